/// Provides the time zones of the IANA database by name.
package protocol TimeZoneSource: Sendable {
    /// Returns the rules of a zone. May read a small file when a zone is first requested.
    ///
    /// Throws `time_zone.unknown` for a name that is not among `names`, `time_zone.invalid` for a zone that cannot be read.
    func rules(of name: String) throws(PushError) -> TimeZoneRules
    /// The known names, sorted. The first access takes some milliseconds.
    var names: [String] { get }
}

extension TimeZoneSource {
    /// The error for an unknown name, with the most similar zone: by its whole name or by its city.
    package func unknown(_ name: String) -> PushError {
        let names = names
        let cities = Dictionary(names.map { ($0.city, $0) }, uniquingKeysWith: min)
        let near = nearest(name, in: names) ?? nearest(name.city, in: cities.keys).flatMap { cities[$0] }
        return PushError(
            "time_zone.unknown", "unknown time zone \"\(name.prefix(100))\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint: "use a name of the IANA database, such as Europe/Lisbon or UTC", status: 400)
    }
}

extension String {
    /// The part after the last slash, with spaces replaced by underscores.
    fileprivate var city: String { String(self[(lastIndex(of: "/").map(index(after:)) ?? startIndex)...]).replacing(" ", with: "_") }
}
