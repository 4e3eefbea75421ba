import Bindings
import Glibc
import PushCore

/// Where the settings of a server stand: in a file, in the environment, on the command line.
struct SettingsSource: Sendable {
    /// The file that was named; without one `pushhost.yaml` of this folder is read, if there is one.
    var path: String?
    /// Texts of the command line, by the names of their settings.
    var flags: [String: String] = [:]

    private static let standardFile = "pushhost.yaml"

    /// The file that is read; nil where there is none.
    var file: String? { path ?? (access(Self.standardFile, F_OK) == 0 ? Self.standardFile : nil) }

    /// Throws `settings.unreadable`, and `settings.invalid` with every fault.
    func read() throws(PushError) -> GivenSettings {
        try GivenSettings(file: try text(), environment: Environment.variables, flags: flags)
    }

    /// What the file says, with its name; nil where there is none. Throws `settings.unreadable`.
    func text() throws(PushError) -> (name: String, text: String)? {
        guard let path = file else { return nil }
        let text: [UInt8]
        do {
            text = try TextFile.read(path, limit: 1 << 20, kind: "settings file")
        } catch {
            throw PushError("settings.unreadable", error.message, hint: "name a file of settings with --config")
        }
        guard let yaml = String(validating: text, as: UTF8.self) else {
            throw PushError("settings.unreadable", "\(path) is not UTF-8", hint: "save it as UTF-8")
        }
        return (path, yaml)
    }
}
