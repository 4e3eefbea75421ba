/// Where the time zones of IANA's database come from, by name.
package protocol TimeZoneSource: Sendable {
    /// May read a small file the first time that somebody asks for a zone.
    ///
    /// Throws `time_zone.unknown` for a name that is not among `names`, `time_zone.invalid` for a zone that cannot be read.
    func rules(of name: String) throws(PushError) -> TimeZoneRules
    /// Those that can be asked for, sorted. The first time it takes some milliseconds.
    var names: [String] { get }
}

extension TimeZoneSource {
    /// The error for a name of no zone, with the one that was likely meant: near as a whole, or as the city at its end.
    package func unknown(_ name: String) -> PushError {
        let names = names
        let cities = Dictionary(names.map { ($0.city, $0) }, uniquingKeysWith: min)
        let near = nearest(name, in: names) ?? nearest(name.city, in: cities.keys).flatMap { cities[$0] }
        return PushError(
            "time_zone.unknown", "there is no time zone \"\(name.prefix(100))\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: "names are those of IANA, such as Europe/Lisbon or UTC", status: 400)
    }
}

extension String {
    /// What stands behind the last slash of a zone's name, with spaces as people write them made what zones have.
    fileprivate var city: String { String(self[(lastIndex(of: "/").map(index(after:)) ?? startIndex)...]).replacing(" ", with: "_") }
}
