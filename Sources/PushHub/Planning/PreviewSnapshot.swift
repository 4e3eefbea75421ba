import PushModel

/// A snapshot of a send's targets, from which a preview is rendered.
struct PreviewSnapshot: Sendable {
    let pipeline: SendPipeline
    let request: NotificationRequest
    let targets: Targets
    let nearMisses: [String]

    /// Renders what the send would deliver.
    ///
    /// - Parameter limit: maximum number of groups that are listed.
    func rendered(limit: Int) -> SendPreview {
        let groups = RenderedGroup.groups(of: targets, for: request)
        return SendPreview(
            matched: targets.matched,
            groups: groups.prefix(limit).map { SendPreview.Group($0, refusal: pipeline.refusal(of: $0)) },
            furtherGroups: max(0, groups.count - limit), nearMisses: nearMisses)
    }
}

extension SendPreview.Group {
    fileprivate init(_ group: RenderedGroup, refusal: (outcome: OutcomeName, reason: String, explanation: String)?) {
        self.init(
            platform: group.platform, templateName: group.templateName, body: group.body, headers: group.headers,
            devices: group.members.count,
            refusal: refusal.map { Refusal(outcome: $0.outcome, reason: $0.reason, explanation: $0.explanation) })
    }
}
