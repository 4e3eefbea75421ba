import PushModel

// Preview: what a send would deliver, and to which devices.
extension NotificationHub {
    /// Renders a send without sending or storing anything. Throws what `send` would: `payload.*` and `handle.invalid`.
    /// - Parameter limit: maximum number of groups that are listed.
    package nonisolated func preview(_ request: NotificationRequest, limit: Int = 100) async throws(PushError) -> SendPreview {
        let plan = try await plan(request)
        // Rendered outside the actor, which stays free for other calls.
        let groups = RenderedGroup.groups(of: plan.targets, for: plan.request)
        return SendPreview(
            matched: plan.targets.matched,
            groups: groups.prefix(limit).map { SendPreview.Group($0, refusal: plan.pipeline.refusal(of: $0)) },
            furtherGroups: max(0, groups.count - limit), nearMisses: plan.nearMisses)
    }

    private struct Plan: Sendable {
        let pipeline: SendPipeline
        let request: NotificationRequest
        let targets: Targets
        let nearMisses: [String]
    }

    private func plan(_ request: NotificationRequest) async throws(PushError) -> Plan {
        sweep()
        let targets = pipeline.targets(of: request, in: table)
        let reached = targets.platforms
        return Plan(
            pipeline: pipeline,
            request: try request.checked(reaching: reached.isEmpty ? nil : reached, refusingLarge: refusesLargePayloads),
            targets: targets,
            nearMisses: targets.isEmpty ? await nearMisses(request) : []
        )
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
