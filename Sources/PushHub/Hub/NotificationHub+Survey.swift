import PushModel

// Data for plans: a consistent snapshot, evaluated outside the actor.
extension NotificationHub {
    /// Takes a snapshot of the audience. Everything that must be consistent is read without a suspension.
    func survey(_ request: PlanRequest) async throws(PushError) -> PlanSnapshot {
        sweep()
        guard let content = request.content else {
            let (audience, locales) = table.planned(request.audience.expression, nil)
            return PlanSnapshot(
                now: environment.clock.now, request: request, pipeline: pipeline, audience: audience, locales: locales,
                explanation: await explanation(request, reached: audience.count))
        }
        let notification = NotificationRequest(audience: request.audience, content: content)
        let targets = pipeline.targets(of: notification, in: table)
        let checked = try notification.checked(
            reaching: targets.isEmpty ? nil : targets.platforms, refusingLarge: false)
        let direct = targets.direct != nil
        let (audience, locales) = direct ? (PlannedAudience(), [:]) : table.planned(nil, targets)
        return PlanSnapshot(
            now: environment.clock.now, request: request, pipeline: pipeline, notification: checked, targets: targets, audience: audience,
            locales: locales, explanation: await explanation(request, reached: targets.count))
    }

    /// Explains why no device, or few devices, would be reached.
    private func explanation(_ request: PlanRequest, reached: Int) async -> PlanSnapshot.Explanation {
        var explanation = PlanSnapshot.Explanation()
        if reached == 0 {
            explanation.nearMisses = await nearMisses(
                NotificationRequest(audience: request.audience, content: request.content ?? .template([:])))
        }
        // Sends to one user reach few of many devices, as intended. Terms are reported only for expressions with several tags, or if
        // nothing matches.
        if reached < Self.few, reached * 10 < table.count || reached == 0, let expression = request.audience.expression,
            expression.tags.count > 1 || reached == 0
        {
            explanation.failedTerms = FailedTerms(of: expression, in: table).terms
        }
        return explanation
    }

    private static let few = 10

    /// Counts the tags and locales of an audience. Counts may include changes made after the survey.
    nonisolated func addTags(of audience: PlannedAudience, _ survey: PlanSnapshot, to report: inout PlanReport) async throws(PushError) {
        var tally = TagTally(survey.localesOfKinds)
        func count(_ place: UInt32, _ member: PlannedAudience.Member, _ tags: [Tag]) {
            guard !member.isDuplicate else { return }
            tally.count(tags, kind: member.kind, variable: survey.locales[place])
        }
        if audience.count <= Self.maximumRowsReadByOne {
            for start in stride(from: 0, to: audience.count, by: 500) {
                let members = audience.members[start..<min(start + 500, audience.count)]
                let byRow = Dictionary(members.map { ($0.place, $0) }, uniquingKeysWith: { first, _ in first })
                for row in try await storedRegistrations(at: members.map(\.place)) {
                    guard let member = byRow[row.place], audience.id(of: member) == row.registration.id else { continue }
                    count(row.place, member, row.registration.tags)
                }
            }
        } else {
            var (last, next) = (UInt32?.none, 0)
            while next < audience.count {
                let rows = try await store.tags(behind: last, limit: Self.tagRows)
                for row in rows {
                    while next < audience.count, audience.members[next].place < row.place { next += 1 }
                    guard next < audience.count, audience.members[next].place == row.place else { continue }
                    count(row.place, audience.members[next], row.tags)
                }
                guard rows.count == Self.tagRows, let place = rows.last?.place else { break }
                last = place
            }
        }
        tally.write(to: &report)
    }

    /// Maximum number of registrations that are read by row. For larger plans it is faster to read the tags of the whole hub in order.
    private static let maximumRowsReadByOne = 20_000
    private static let tagRows = 5_000
}

/// A snapshot of an audience.
struct PlanSnapshot: Sendable {
    struct Explanation: Sendable {
        var nearMisses: [String] = []
        var failedTerms: [PlanReport.FailedTerm] = []
    }

    let now: Timestamp
    let request: PlanRequest
    let pipeline: SendPipeline
    /// The request as it would be sent; nil without content.
    var notification: NotificationRequest?
    var targets: Targets?
    /// Its kinds are the groups of the targets, not rendered yet.
    let audience: PlannedAudience
    /// By row, for registrations with a locale in their push variables.
    let locales: [UInt32: String]
    let explanation: Explanation

    /// Maximum number of groups, and of templates, that are listed.
    private static let groupsListed = 100

    /// The audience with rendered kinds, and the groups for the report.
    func sorted() -> (audience: PlannedAudience, groups: [PlanReport.Group]) {
        guard let notification, let targets else { return (audience, []) }
        var sorted = audience
        sorted.kinds = []
        var told: [PlanReport.Group] = []
        let values = TemplateProperties(notification.content)
        for (target, group) in zip(targets.groups, RenderedGroup.groups(of: targets, for: notification)) {
            let refusal = pipeline.refusal(of: group)
            sorted.kinds.append(PlannedAudience.Kind(group, isRefused: refusal != nil))
            guard told.count < Self.groupsListed else { continue }
            var entry = PlanReport.Group(group)
            entry.refusal = refusal.map {
                SendPreview.Group.Refusal(outcome: $0.outcome, reason: $0.reason, explanation: $0.explanation)
            }
            entry.missing = target.template?.compiled.missing(in: values.with(fallback: target.variables)) ?? []
            entry.isTextless = group.isTemplate && VisibleText(group.body, on: group.platform).isMissing
            entry.texts = target.template?.compiled.embeddedExpressions.map(\.warning) ?? []
            told.append(entry)
        }
        return (sorted, told)
    }

    func report(_ audience: PlannedAudience, _ groups: [PlanReport.Group], by maker: String?) -> PlanReport {
        var report = PlanReport(plannedAt: now, audience: request.audience, content: request.content)
        report.plannedBy = maker
        report.matched = targets?.matched ?? audience.count
        report.groups = groups
        report.furtherGroups = max(0, (targets?.groups.count ?? 0) - groups.count)
        report.nearMisses = explanation.nearMisses
        report.failedTerms = explanation.failedTerms
        // Handles without registrations have groups but no members.
        let counts = counts(audience)
        report.duplicates = targets?.duplicates.count ?? 0
        var templates: [TemplateKey: PlanReport.TemplateCount] = [:]
        for (kind, devices) in zip(audience.kinds, counts) where devices > 0 {
            report.total += devices
            report.platforms[kind.platform, default: 0] += devices
            if kind.isRefused { report.refused += devices }
            templates[TemplateKey(kind), default: PlanReport.TemplateCount(kind)].add(kind, devices)
        }
        let sorted = templates.values.sorted {
            ($0.platform, $0.isTemplate ? 1 : 0, $0.name ?? "") < ($1.platform, $1.isTemplate ? 1 : 0, $1.name ?? "")
        }
        report.templates = Array(sorted.prefix(Self.groupsListed))
        report.furtherTemplates = sorted.count - report.templates.count
        return report
    }

    /// Number of devices of each kind, without duplicates.
    private func counts(_ audience: PlannedAudience) -> [Int] {
        if let targets { return targets.groups.map(\.members.count) }
        var counts = [Int](repeating: 0, count: audience.kinds.count)
        for member in audience.members where !member.isDuplicate { counts[member.kind] += 1 }
        return counts
    }

    private struct TemplateKey: Hashable {
        let platform: Platform
        let name: String?
        let isTemplate: Bool

        init(_ kind: PlannedAudience.Kind) { (platform, name, isTemplate) = (kind.platform, kind.templateName, kind.isTemplate) }
    }

    /// By kind, the language of the property that its template shows, if the message has one text in several languages.
    var localesOfKinds: [String?] {
        guard case .template(let properties)? = request.content, let targets else { return [] }
        let languages = InferredLocale.languages(ofProperties: properties.keys)
        guard !languages.isEmpty else { return [] }
        return targets.groups.map { group in
            let found = Set(group.template?.variables.compactMap { languages[$0] } ?? [])
            return found.count == 1 ? found.first : nil
        }
    }
}

extension PlanReport.TemplateCount {
    fileprivate init(_ kind: PlannedAudience.Kind) {
        self.init(
            platform: kind.platform, name: kind.templateName, isTemplate: kind.isTemplate, devices: 0, smallest: kind.bytes,
            largest: kind.bytes, refused: 0)
    }

    fileprivate mutating func add(_ kind: PlannedAudience.Kind, _ count: Int) {
        devices += count
        if kind.isRefused { refused += count }
        if let bytes = kind.bytes { (smallest, largest) = (min(smallest ?? bytes, bytes), max(largest ?? bytes, bytes)) }
    }
}

/// Number of devices for each tag and each locale.
private struct TagTally {
    private var tags: [Tag: Int] = [:]
    private var locales: [String: (text: String, count: Int)] = [:]
    private let localesOfKinds: [String?]

    /// Maximum number of tags that are listed.
    private static let told = 20

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
        report.tags = Array(sorted.prefix(Self.told))
        report.furtherTags = sorted.count - report.tags.count
        report.locales = locales.values.map { PlanReport.Count(name: $0.text, devices: $0.count) }.sorted(by: Self.precedes)
    }

    private static func precedes(_ left: PlanReport.Count, _ right: PlanReport.Count) -> Bool {
        left.devices == right.devices ? left.name < right.name : left.devices > right.devices
    }
}
