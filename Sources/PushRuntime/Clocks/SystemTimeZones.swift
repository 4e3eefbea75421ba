import FoundationEssentials
import Glibc
package import PushModel
import Synchronization

/// The system's time zones, from the files of the package tzdata. Cached until the process ends.
package final class SystemTimeZones: TimeZoneSource {
    private struct State {
        var rules: [String: TimeZoneRules] = [:]
        var names: [String]?
    }

    package static let shared = SystemTimeZones()

    private let folder: String
    private let state = Mutex(State())

    /// Maximum size of a zone file; the largest real one has 5 KiB.
    private static let maximumSize = 64 * 1024

    /// - Parameter folder: nil for the folder in `TZDIR` or, without it, Debian's default.
    init(folder: String? = nil) {
        let variable = Environment.variables["TZDIR"] ?? ""
        self.folder = folder ?? (variable.isEmpty ? "/usr/share/zoneinfo" : variable)
    }

    package func rules(of name: String) throws(PushError) -> TimeZoneRules {
        if let known = state.withLock({ $0.rules[name] }) { return known }
        // UTC is available without files.
        if name == TimeZoneRules.utc.name { return .utc }
        guard let bytes = try Self.isName(name) ? file(name) : nil else { throw unknown(name) }
        let rules = try TimeZoneRules(name: name, file: bytes)
        state.withLock { $0.rules[name] = rules }
        return rules
    }

    package var names: [String] {
        if let known = state.withLock({ $0.names }) { return known }
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        let names = Set(paths.filter { Self.isName($0) && (try? file($0)) != nil } + [TimeZoneRules.utc.name]).sorted()
        state.withLock { $0.names = names }
        return names
    }

    /// Whether the name has the form of an IANA zone: parts of letters, digits, `_`, `+` and `-`, each starting with a letter. This
    /// excludes paths out of the folder, tables, and the copies of zones under `posix` and `right`.
    private static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard name.utf8.count <= 64, !["posix", "right"].contains(parts[0]), !["posixrules", "localtime"].contains(name) else {
            return false
        }
        return parts.allSatisfy { part in
            part.utf8.first.map(isLetter) ?? false
                && part.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "_+-".utf8.contains($0) }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte & 0xdf) }

    /// Reads a zone file; nil if it does not exist. Throws `time_zone.invalid` if it cannot be read.
    private func file(_ name: String) throws(PushError) -> [UInt8]? {
        let descriptor = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, [ENOENT, ENOTDIR, ENAMETOOLONG].contains(errno) { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.maximumSize + 1)
        let count = descriptor < 0 ? -1 : read(descriptor, &bytes, bytes.count)
        let number = errno
        if descriptor >= 0 { close(descriptor) }
        if count < 0, number == EISDIR { return nil }
        guard (0...Self.maximumSize).contains(count) else {
            throw PushError(
                "time_zone.invalid",
                "\(folder)/\(name) cannot be read: \(count < 0 ? String(cString: strerror(number)) : "it is too large")",
                hint: "reinstall the system's time zones: the package tzdata")
        }
        return bytes.starts(with: "TZif".utf8) ? Array(bytes[..<count]) : nil
    }
}
