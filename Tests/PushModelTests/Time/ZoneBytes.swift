import FoundationEssentials
import PushModel

/// A time zone file, built by hand.
struct ZoneBytes {
    var version: UInt8 = UInt8(ascii: "2")
    var changes: [(second: Int64, offset: UInt8)] = []
    var offsets: [(seconds: Int32, isDaylight: UInt8, abbreviation: UInt8)] = [(0, 0, 0)]
    var texts = "UTC\0"
    var leapSeconds: [(second: Int64, correction: Int32)] = []
    /// The last line, including the line breaks around it.
    var line = "\n\n"

    var bytes: [UInt8] {
        if version == 0 { return header + body(Int32.self) }
        var old = ZoneBytes()
        old.version = version
        return old.header + old.body(Int32.self) + header + body(Int64.self) + Array(line.utf8)
    }

    func rules(name: String = "Test/Zone") throws -> TimeZoneRules { try TimeZoneRules(name: name, file: bytes) }

    /// A zone that consists of one rule.
    static func rules(_ posix: String) throws -> TimeZoneRules {
        var zone = ZoneBytes()
        zone.line = "\n\(posix)\n"
        return try zone.rules(name: posix)
    }

    private var header: [UInt8] {
        var bytes = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
        for count in [0, 0, leapSeconds.count, changes.count, offsets.count, texts.utf8.count] { bytes += Int32(count).bigEndianBytes }
        return bytes
    }

    private func body<Time: FixedWidthInteger>(_: Time.Type) -> [UInt8] {
        var bytes = changes.flatMap { Time(truncatingIfNeeded: $0.second).bigEndianBytes }
        bytes += changes.map(\.offset)
        for offset in offsets { bytes += offset.seconds.bigEndianBytes + [offset.isDaylight, offset.abbreviation] }
        bytes += texts.utf8
        for leap in leapSeconds { bytes += Time(truncatingIfNeeded: leap.second).bigEndianBytes + leap.correction.bigEndianBytes }
        return bytes
    }
}

/// Time zones of the machine that runs the tests.
enum SystemZone {
    static let names = [
        "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca", "Pacific/Apia",
    ]

    static func file(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)"))) }

    static func rules(_ name: String) throws -> TimeZoneRules { try TimeZoneRules(name: name, file: file(name)) }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

struct NotATime: Error {
    let text: String
}

/// Parses `2026-03-29T01:30:00Z`.
func date(_ text: String) throws -> Timestamp {
    guard let date = Timestamp(iso8601: text) else { throw NotATime(text: text) }
    return date
}

/// Parses `2026-03-29T01:30` as a local time.
func local(_ text: String) throws -> LocalTime { LocalTime(seconds: try date(text).seconds) }
