import Glibc
import PushModel
import Testing

@testable import PushRuntime

@Suite struct SystemTimeZonesTests {
    private let system = SystemTimeZones(folder: "/usr/share/zoneinfo")

    @Test func `The system's time zones are found by name`() throws {
        let rules = try system.rules(of: "Europe/Lisbon")
        #expect(rules.name == "Europe/Lisbon" && rules.offset(at: Timestamp(seconds: 1_782_000_000)).abbreviation == "WEST")
        #expect(try system.rules(of: "Europe/Lisbon") == rules)
        #expect(try system.rules(of: "America/Argentina/Buenos_Aires").offset(at: Timestamp(seconds: 0)).seconds == -10_800)
        #expect(try system.rules(of: "Etc/GMT+5").offset(at: Timestamp(seconds: 0)).seconds == -18_000)
    }

    @Test func `Every listed zone can be read`() throws {
        let names = system.names
        #expect(names == names.sorted() && Set(names).count == names.count && names.count > 300)
        #expect(Set(["UTC", "Europe/Lisbon", "Etc/GMT-14", "America/Port-au-Prince"]).isSubset(of: names))
        #expect(!names.contains { $0.hasPrefix("posix") || $0.hasPrefix("right") || $0.contains(".") || $0 == "localtime" })
        for name in names { #expect(throws: Never.self) { try system.rules(of: name) } }
    }

    @Test(
        arguments: [
            "", ".", "..", "/", "/etc/localtime", "/usr/share/zoneinfo/Europe/Lisbon", "Europe", "Europe/", "/Europe/Lisbon",
            "Europe//Lisbon",
            "Europe/../Europe/Lisbon", "./Europe/Lisbon", "Europe/Lisbon/", "Europe/Lisbon/x", "Europe/Lisbon\0", "Europe\\Lisbon",
            "europe/lisbon", "zone.tab", "leapseconds", "tzdata.zi", "posix/Europe/Lisbon", "right/Europe/Lisbon", "posixrules",
            "localtime",
            "Évora", String(repeating: "a", count: 5000),
        ])
    func `An invalid zone name reads no file`(name: String) {
        let error = #expect(throws: PushError.self) { try system.rules(of: name) }
        #expect(error?.code == "time_zone.unknown")
    }

    @Test func `A misspelled name is reported with the right one`() {
        let error = #expect(throws: PushError.self) { try system.rules(of: "europe/lisbon") }
        #expect(error?.message == "unknown time zone \"europe/lisbon\"; did you mean \"Europe/Lisbon\"?")
    }

    @Test func `Without the system's files UTC is available`() throws {
        let none = SystemTimeZones(folder: "/nonexistent")
        #expect(none.names == ["UTC"])
        #expect(try none.rules(of: "UTC") == .utc)
        #expect(#expect(throws: PushError.self) { try none.rules(of: "Europe/Lisbon") }?.code == "time_zone.unknown")
    }

    @Test func `In a custom folder only zone files are listed, and a broken one has its own error`() throws {
        var template = Array("/tmp/pushhost-zones-XXXXXX\0".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        mkdir("\(folder)/Area", 0o700)
        let lisbon = "/usr/share/zoneinfo/Europe/Lisbon"
        #expect(symlink(lisbon, "\(folder)/Area/City") == 0 && symlink(lisbon, "\(folder)/localtime") == 0)
        #expect(symlink(folder, "\(folder)/Area/Around") == 0 && mkfifo("\(folder)/Pipe", 0o600) == 0)
        try Self.write("TZif2 and no more", to: "\(folder)/Broken")
        try Self.write("not a zone", to: "\(folder)/NEWS")
        try Self.write("TZif" + String(repeating: "x", count: 65_533), to: "\(folder)/Large")
        let zones = SystemTimeZones(folder: folder)
        #expect(zones.names == ["Area/City", "Broken", "UTC"])
        #expect(try zones.rules(of: "Area/City").offset(at: Timestamp(seconds: 0)).abbreviation == "CET")
        func code(_ name: String) -> String? { #expect(throws: PushError.self) { try zones.rules(of: name) }?.code }
        #expect(["Broken", "Large"].map(code) == ["time_zone.invalid", "time_zone.invalid"])
        #expect(["Pipe", "NEWS", "Area", "Area/Around"].map(code) == Array(repeating: "time_zone.unknown", count: 4))
    }

    private static func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }
}
