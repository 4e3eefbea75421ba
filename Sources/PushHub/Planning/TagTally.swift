import PushModel

/// Number of devices for each tag and each locale.
struct TagTally {
    private var tags: [Tag: Int] = [:]
    private var locales: [String: (text: String, count: Int)] = [:]
    private let localesOfKinds: [String?]

    /// Maximum number of tags that are listed.
    private static let maximumTags = 20

    init(_ localesOfKinds: [String?]) { self.localesOfKinds = localesOfKinds }

    /// - Parameter variable: the locale in the push variables.
    mutating func count(_ tags: [Tag], kind: Int, variable: String?) {
        var locale = variable
        for tag in tags {
            if locale == nil { locale = InferredLocale.of(tag) }
            // Tags of single users and devices are not interesting in a report.
            guard tag.reservedForm == nil, !tag.isUserTag else { continue }
            self.tags[tag, default: 0] += 1
        }
        locale = locale ?? (kind < localesOfKinds.count ? localesOfKinds[kind] : nil)
        if let locale { locales[locale.lowercased(), default: (locale, 0)].count += 1 }
    }

    func write(to report: inout PlanReport) {
        let sorted = tags.map { PlanReport.Count(name: $0.text, devices: $1) }.sorted(by: Self.precedes)
        report.tags = Array(sorted.prefix(Self.maximumTags))
        report.furtherTags = sorted.count - report.tags.count
        report.locales = locales.values.map { PlanReport.Count(name: $0.text, devices: $0.count) }.sorted(by: Self.precedes)
    }

    private static func precedes(_ left: PlanReport.Count, _ right: PlanReport.Count) -> Bool {
        left.devices == right.devices ? left.name < right.name : left.devices > right.devices
    }

    /// Counts the tags and locales of an audience. Counts may include changes made after the survey.
    static func count(
        _ audience: PlannedAudience, _ survey: PlanSnapshot, _ stored: StoredRows, into report: inout PlanReport
    ) async throws(PushError) {
        var tally = TagTally(survey.localesOfKinds)
        func count(_ rowNumber: UInt32, _ member: PlannedAudience.Member, _ tags: [Tag]) {
            guard !member.isDuplicate else { return }
            tally.count(tags, kind: member.kind, variable: survey.locales[rowNumber])
        }
        if audience.count <= Self.maximumRowsReadByOne {
            for start in stride(from: 0, to: audience.count, by: 500) {
                let members = audience.members[start..<min(start + 500, audience.count)]
                let byRow = Dictionary(members.map { ($0.row, $0) }, uniquingKeysWith: { first, _ in first })
                for row in try await stored.registrations(at: members.map(\.row)) {
                    guard let member = byRow[row.row], audience.id(of: member) == row.registration.id else { continue }
                    count(row.row, member, row.registration.tags)
                }
            }
        } else {
            var (last, next) = (UInt32?.none, 0)
            while next < audience.count {
                let rows = try await stored.store.tags(behind: last, limit: Self.tagRows)
                for row in rows {
                    while next < audience.count, audience.members[next].row < row.row { next += 1 }
                    guard next < audience.count, audience.members[next].row == row.row else { continue }
                    count(row.row, audience.members[next], row.tags)
                }
                guard rows.count == Self.tagRows, let rowNumber = rows.last?.row else { break }
                last = rowNumber
            }
        }
        tally.write(to: &report)
    }

    /// Maximum number of registrations that are read by row. For larger plans it is faster to read the tags of the whole hub in order.
    private static let maximumRowsReadByOne = 20_000
    private static let tagRows = 5_000
}
