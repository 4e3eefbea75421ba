// What a plan is made of: taken at one moment, and put together beside the hub.
extension NotificationHub {
    /// Who would get it at this moment. Everything that has to be of one moment is taken in one step.
    func survey(_ request: PlanRequest) async throws(PushError) -> Survey {
        sweep()
        guard let content = request.content else {
            let (audience, locales) = table.planned(request.audience.expression, nil)
            return Survey(
                now: environment.clock.now, request: request, pipeline: pipeline, audience: audience, locales: locales,
                explanation: await explanation(request, reached: audience.count))
        }
        let notification = NotificationRequest(audience: request.audience, content: content)
        let targets = pipeline.targets(of: notification, in: table)
        let checked = try notification.checked(
            reaching: targets.isEmpty ? nil : targets.platforms, refusingLarge: false)
        let direct = targets.direct != nil
        let (audience, locales) = direct ? (PlannedAudience(), [:]) : table.planned(nil, targets)
        return Survey(
            now: environment.clock.now, request: request, pipeline: pipeline, notification: checked, targets: targets, audience: audience,
            locales: locales, explanation: await explanation(request, reached: targets.count))
    }

    /// Where nobody or few would get it: why.
    private func explanation(_ request: PlanRequest, reached: Int) async -> Survey.Explanation {
        var explanation = Survey.Explanation()
        if reached == 0 {
            explanation.nearMisses = await nearMisses(
                NotificationRequest(audience: request.audience, content: request.content ?? .template([:])))
        }
        // A user has some devices: that few of many are reached is what many sends are for, and it is told when an expression has parts.
        if reached < Self.few, reached * 10 < table.count || reached == 0, let expression = request.audience.expression,
            expression.tags.count > 1 || reached == 0
        {
            explanation.failedTerms = FailedTerms(of: expression, in: table).terms
        }
        return explanation
    }

    private static let few = 10

    /// Counts tags, and locales, of an audience. What has changed since the survey may be counted otherwise.
    nonisolated func addTags(of audience: PlannedAudience, _ survey: Survey, to report: inout PlanReport) async throws(PushError) {
        var tally = TagTally(survey.localesOfKinds)
        func count(_ place: UInt32, _ member: PlannedAudience.Member, _ tags: [Tag]) {
            guard !member.isDuplicate else { return }
            tally.count(tags, kind: member.kind, variable: survey.locales[place])
        }
        if audience.count <= Self.rowsReadSingly {
            for start in stride(from: 0, to: audience.count, by: 500) {
                let members = audience.members[start..<min(start + 500, audience.count)]
                let byPlace = Dictionary(members.map { ($0.place, $0) }, uniquingKeysWith: { first, _ in first })
                for row in try await storedRegistrations(at: members.map(\.place)) {
                    guard let member = byPlace[row.place], audience.id(of: member) == row.registration.id else { continue }
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

    /// Most registrations of a plan that are read one by one; of more, the tags of the whole hub are read in its order, which is quicker.
    private static let rowsReadSingly = 20_000
    private static let tagRows = 5_000
}

/// What is known of an audience at one moment.
struct Survey: Sendable {
    struct Explanation: Sendable {
        var nearMisses: [String] = []
        var failedTerms: [PlanReport.FailedTerm] = []
    }

    let now: Timestamp
    let request: PlanRequest
    let pipeline: SendPipeline
    /// As it would be sent; nil without a content.
    var notification: NotificationRequest?
    var targets: Targets?
    /// With the groups of the targets as kinds, which are still to be rendered.
    let audience: PlannedAudience
    /// By place, of those that have push variables with one.
    let locales: [UInt32: String]
    let explanation: Explanation

    /// Most groups, and templates, that are told one by one.
    private static let groupsTold = 100

    /// The audience with what each would get.
    func sorted() -> (audience: PlannedAudience, groups: [PlanReport.Group]) {
        guard let notification, let targets else { return (audience, []) }
        var sorted = audience
        sorted.kinds = []
        var told: [PlanReport.Group] = []
        let values = TemplateProperties(notification.content)
        for (target, group) in zip(targets.groups, RenderedGroup.groups(of: targets, for: notification)) {
            let refusal = pipeline.refusal(of: group)
            sorted.kinds.append(PlannedAudience.Kind(group, isRefused: refusal != nil))
            guard told.count < Self.groupsTold else { continue }
            told.append(
                PlanReport.Group(
                    platform: group.platform, templateName: group.templateName, isTemplate: group.isTemplate, devices: group.members.count,
                    payload: String(decoding: group.body, as: UTF8.self), headers: group.headers, bytes: group.body.count,
                    limit: PayloadRules.limit(for: group.platform, headers: group.headers),
                    refusal: refusal.map {
                        SendPreview.Group.Refusal(outcome: $0.outcome, reason: $0.reason, explanation: $0.explanation)
                    }, missing: target.template?.compiled.missing(in: values.with(fallback: target.variables)) ?? [],
                    isTextless: group.isTemplate && VisibleText(group.body, on: group.platform).isMissing,
                    texts: target.template?.compiled.expressionsInText.map(\.warning) ?? []))
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
        // Of handles without registrations there are groups and no members.
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
        report.templates = Array(sorted.prefix(Self.groupsTold))
        report.furtherTemplates = sorted.count - report.templates.count
        return report
    }

    /// Devices of each kind, without duplicates.
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

    /// By kind, the language of the property that its template shows, where the message has one text in several languages.
    var localesOfKinds: [String?] {
        guard case .template(let properties)? = request.content, let targets else { return [] }
        let languages = KnownLocale.languages(ofProperties: properties.keys)
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

/// How many devices have each tag, and each locale.
private struct TagTally {
    private var tags: [Tag: Int] = [:]
    private var locales: [String: (text: String, count: Int)] = [:]
    private let localesOfKinds: [String?]

    /// Most tags that are told.
    private static let told = 20

    init(_ localesOfKinds: [String?]) { self.localesOfKinds = localesOfKinds }

    /// - Parameter variable: the locale of its push variables.
    mutating func count(_ tags: [Tag], kind: Int, variable: String?) {
        var locale = variable
        for tag in tags {
            if locale == nil { locale = KnownLocale.of(tag) }
            // Nobody looks for a tag that each user or device has for itself.
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
