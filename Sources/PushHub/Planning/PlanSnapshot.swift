import PushModel

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
        var listed: [PlanReport.Group] = []
        let values = TemplateProperties(notification.content)
        for (target, group) in zip(targets.groups, RenderedGroup.groups(of: targets, for: notification)) {
            let refusal = pipeline.refusal(of: group)
            sorted.kinds.append(PlannedAudience.Kind(group, isRefused: refusal != nil))
            guard listed.count < Self.groupsListed else { continue }
            var entry = PlanReport.Group(group)
            entry.refusal = refusal.map {
                SendPreview.Group.Refusal(outcome: $0.outcome, reason: $0.reason, explanation: $0.explanation)
            }
            entry.missing = target.template?.compiled.missing(in: values.with(fallback: target.variables)) ?? []
            entry.isTextless = group.isTemplate && VisibleText(group.body, on: group.platform).isMissing
            entry.texts = target.template?.embeddedExpressions.map(\.warning) ?? []
            listed.append(entry)
        }
        return (sorted, listed)
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
