import Bindings
import Glibc
package import PushModel
import PushRuntime

/// The sources of a server's settings: a file, the environment, and the command line.
package struct SettingsSource: Sendable {
    /// The file given with `--config`; nil to read `pushhost.yaml` in the working directory, if it exists.
    var path: String?
    /// Values of command line options, by the setting's name.
    var flags: [String: String] = [:]

    package init(path: String? = nil, flags: [String: String] = [:]) {
        self.path = path
        self.flags = flags
    }

    private static let standardFile = "pushhost.yaml"

    /// The file to read; nil if there is none.
    package var file: String? { path ?? (access(Self.standardFile, F_OK) == 0 ? Self.standardFile : nil) }

    /// Reads the settings. Throws `settings.unreadable`, and `settings.invalid` with every fault.
    package func read() throws(PushError) -> ConfiguredSettings {
        try ConfiguredSettings(file: try text(), environment: Environment.variables, flags: flags)
    }

    /// The name and content of the file; nil if there is none. Throws `settings.unreadable`.
    package func text() throws(PushError) -> (name: String, text: String)? {
        guard let path = file else { return nil }
        let text: [UInt8]
        do {
            text = try TextFile.read(path, limit: 1 << 20, kind: "settings file")
        } catch {
            throw PushError("settings.unreadable", error.message, hint: "use a readable settings file with --config")
        }
        guard let yaml = String(validating: text, as: UTF8.self) else {
            throw PushError("settings.unreadable", "\(path) is not UTF-8", hint: "save it as UTF-8")
        }
        return (path, yaml)
    }
}
