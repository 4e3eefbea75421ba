import Support
import Testing

@testable import PushModel

@Suite struct TimeZoneFileTests {
    /// Two offsets, with a change at second 1000 and one back at second 2000.
    private var zone: ZoneBytes {
        var zone = ZoneBytes()
        zone.changes = [(1000, 1), (2000, 0)]
        zone.offsets = [(-3600, 0, 0), (1800, 1, 4)]
        zone.texts = "AAA\0BBB\0"
        return zone
    }

    @Test(arguments: [0, UInt8(ascii: "2"), UInt8(ascii: "3"), UInt8(ascii: "4")])
    func `Every version of the file format is read`(version: UInt8) throws {
        var zone = zone
        zone.version = version
        let rules = try zone.rules()
        let shown = [999, 1000, 1999, 2000].map { rules.offset(at: Timestamp(seconds: $0)) }
        #expect(shown.map(\.seconds) == [-3600, 1800, 1800, -3600])
        #expect(shown.map(\.abbreviation) == ["AAA", "BBB", "BBB", "AAA"])
        #expect(shown.map(\.isDaylight) == [false, true, true, false])
    }

    @Test func `Newer versions hold times beyond 32 bits, and the first offset applies before any change`() throws {
        var zone = zone
        zone.changes = [(.min, 1), (-5_000_000_000, 0), (5_000_000_000, 1)]
        let rules = try zone.rules()
        let seconds: [Int64] = [-9_000_000_000_000_000, -5_000_000_001, -5_000_000_000, 4_999_999_999, 5_000_000_000]
        #expect(seconds.map { rules.offset(at: Timestamp(seconds: $0)).seconds } == [1800, 1800, -3600, -3600, 1800])
    }

    @Test func `After the last change the rule applies, or the last offset if there is no rule`() throws {
        var zone = zone
        #expect(try zone.rules().offset(at: .distantFuture).abbreviation == "AAA")
        zone.line = "\nCCC-2\n"
        let rules = try zone.rules()
        #expect(rules.offset(at: Timestamp(seconds: 1999)).abbreviation == "BBB")
        #expect(rules.offset(at: Timestamp(seconds: 2000)).abbreviation == "CCC")
        #expect(rules.span(at: 5000).start == 2000)
    }

    @Test func `An abbreviation may be stored as the end of another one`() throws {
        var zone = zone
        zone.offsets[0].abbreviation = 5
        #expect(try zone.rules().offset(at: Timestamp(seconds: 0)).abbreviation == "BB")
    }

    @Test func `Leap seconds are removed from the times of a file that counts them`() throws {
        var zone = zone
        zone.leapSeconds = [(500, 1), (1500, 2), (5000, 1)]
        zone.changes = [(400, 1), (1000, 0), (2000, 1), (6000, 0)]
        let rules = try zone.rules()
        #expect([0, 400, 999, 1998].map { rules.span(at: $0).end } == [400, 999, 1998, 5999])
    }

    @Test(arguments: [
        "", "A", "AAA", "AA0", "AAA25", "AAA0:60", "AAA1:2:3:4", "<AAA0", "<>0", "AAA0BBB", "AAA0BBB,", "AAA0BBB,M3.2.0", "AAA0BBB,M3.2.0,",
        "AAA0BBB,M0.2.0,M11.1.0", "AAA0BBB,M3.6.0,M11.1.0", "AAA0BBB,M3.0.0,M11.1.0", "AAA0BBB,M3.2.7,M11.1.0", "AAA0BBB,J0,J1",
        "AAA0BBB,J366,J1", "AAA0BBB,366,1", "AAA0BBB,1/168,2", "AAA0BBB,1/-168,2", "AAA0BBB,1,2 ", "AAA0BBB,99999999999999999999,2",
        "AAA0BBB,1,2,3", "é0", "AAA+-1", "AAA0\0",
    ]) func `An invalid rule is rejected, and an empty line means no rule`(posix: String) throws {
        #expect(RecurringRule(posix: Array(posix.utf8)) == nil)
        if posix.isEmpty {
            #expect(try ZoneBytes.rules("").offset(at: .distantFuture).abbreviation == "UTC")
        } else {
            #expect(throws: PushError.self) { try ZoneBytes.rules(posix) }
        }
    }

    private func refusal(_ change: (inout ZoneBytes) -> Void) -> PushError? {
        var zone = zone
        change(&zone)
        return #expect(throws: PushError.self) { try zone.rules() }
    }

    @Test func `A file that contradicts itself is rejected with the reason`() {
        let refusals = [
            refusal { $0.version = UInt8(ascii: "1") },
            refusal { $0.changes = [(2000, 0), (1000, 1)] },
            refusal { $0.changes = [(1000, 0), (1000, 1)] },
            refusal { $0.changes = [(1000, 2)] },
            refusal { $0.offsets = [] },
            refusal { $0.offsets[0].seconds = 93_600 },
            refusal { $0.offsets[0].seconds = -90_000 },
            refusal { $0.offsets[0].seconds = .min },
            refusal { $0.offsets[0].isDaylight = 2 },
            refusal { $0.offsets[0].abbreviation = 8 },
            refusal { $0.texts = "AAA\0BBB" },
            refusal { $0.texts = "AAA\0B\u{7}B\0" },
            refusal { $0.leapSeconds = [(5, 1), (5, 2)] },
            refusal { $0.line = "" },
            refusal { $0.line = "\nAAA0" },
            refusal { $0.line = "AAA0\n" },
        ]
        #expect(refusals.allSatisfy { $0?.code == "time_zone.invalid" })
        let reasons = refusals.map { $0?.message.replacing("the file of the time zone Test/Zone cannot be used: ", with: "") ?? "" }
        #expect(
            reasons == [
                "its version is 49", "its changes are not in ascending order", "its changes are not in ascending order",
                "a change refers to a missing offset", "it has no offset from UTC", "an offset from UTC is 93600 seconds",
                "an offset from UTC is -90000 seconds", "an offset from UTC is -2147483648 seconds",
                "a daylight flag is neither 0 nor 1", "an abbreviation is not printable ASCII",
                "an abbreviation is not printable ASCII", "an abbreviation is not printable ASCII",
                "its leap seconds are not in ascending order",
                "its last line is missing", "its last line is missing", "its last line is missing",
            ])
    }

    @Test(arguments: SystemZone.names) func `A truncated file is always rejected`(zone: String) throws {
        let file = try SystemZone.file(zone)
        #expect((try? TimeZoneRules(name: zone, file: file)) != nil)
        for count in file.indices {
            let error = #expect(throws: PushError.self) { try TimeZoneRules(name: zone, file: Array(file[..<count])) }
            #expect(error?.code == "time_zone.invalid")
        }
    }

    @Test(arguments: ["Europe/Lisbon", "Africa/Casablanca", ""])
    func `A corrupted file is rejected or gives rules that work`(zone: String) throws {
        let file = zone.isEmpty ? self.zone.bytes : try SystemZone.file(zone)
        var random = SplitMix64(seed: 5)
        var taken = 0
        for _ in 0..<1000 {
            var bytes = file
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                // Half of the changes are near the start of a header, where the counts are.
                let isCount = random.chance(50)
                let index = isCount ? Int.random(in: 0..<44, using: &random) : Int.random(in: 0..<file.count, using: &random)
                bytes[index] = random.chance(50) ? UInt8.random(in: 0...3, using: &random) : UInt8.random(in: 0...255, using: &random)
            }
            guard let rules = try? TimeZoneRules(name: "Test/Zone", file: bytes) else { continue }
            taken += 1
            for milliseconds in [Int64.min, -1, 0, 1_800_000_000_000, 9_000_000_000_000, .max] {
                let time = Timestamp(milliseconds: milliseconds)
                if case .gap = rules.timestamps(of: rules.localTime(at: time)) { Issue.record("\(time) shows a time that is left out") }
                _ = DailyWindowTests.night.end(of: time, in: rules)
                if let next = CronScheduleTests.morning.next(after: time, in: rules) { #expect(next > time) }
            }
        }
        #expect(taken > 30)
    }

    @Test func `Random bytes are rejected`() {
        var random = SplitMix64(seed: 6)
        for _ in 0..<2000 {
            var bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            if random.chance(80) { bytes = TimeZoneFile.mark + [UInt8(ascii: "2")] + bytes }
            #expect((try? TimeZoneRules(name: "Test/Zone", file: bytes)) == nil)
        }
    }
}
