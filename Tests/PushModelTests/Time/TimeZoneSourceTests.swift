import PushModel
import Testing

@Suite struct TimeZoneSourceTests {
    /// Has exactly these zones.
    private struct Zones: TimeZoneSource {
        let names: [String]

        func rules(of name: String) throws(PushError) -> TimeZoneRules {
            guard names.contains(name) else { throw unknown(name) }
            return .utc
        }
    }

    @Test(
        arguments: [
            ("Europe/Lisbn", "Europe/Lisbon"), ("europe/lisbon", "Europe/Lisbon"), ("Lisbon", "Europe/Lisbon"),
            ("new york", "America/New_York"), ("US/New_York", "America/New_York"), ("Louisville", "America/Kentucky/Louisville"),
            ("Mars/Olympus", nil), ("", nil), ("Europe/", nil),
        ])
    func `An unknown zone is rejected with the most likely one`(name: String, meant: String?) {
        let zones = Zones(names: ["America/Kentucky/Louisville", "America/New_York", "Europe/Lisbon", "UTC"])
        let error = #expect(throws: PushError.self) { try zones.rules(of: name) }
        #expect(error?.code == "time_zone.unknown" && error?.status == 400)
        #expect(error?.message == "unknown time zone \"\(name)\"\(meant.map { "; did you mean \"\($0)\"?" } ?? "")")
    }
}
