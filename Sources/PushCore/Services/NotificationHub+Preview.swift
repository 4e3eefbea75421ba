// What a send would give to whom.
extension NotificationHub {
    /// Nothing is sent and nothing is kept. Throws what `send` would: `payload.*` and `handle.invalid`.
    /// - Parameter limit: most groups that are told one by one.
    package nonisolated func preview(_ request: NotificationRequest, limit: Int = 100) async throws(PushError) -> SendPreview {
        let plan = try await plan(request)
        // Rendered here, so that the hub has its hands free.
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

/// What a send would give to whom.
package struct SendPreview: Sendable, Equatable {
    /// Devices that would get the same bytes.
    package struct Group: Sendable, Equatable {
        package struct Refusal: Sendable, Equatable {
            package var outcome: OutcomeName
            package var reason: String
            /// In words: what it means and what to do.
            package var explanation: String
        }

        package var platform: Platform
        /// Nil for a native payload, and for a template without a name.
        package var templateName: String?
        package var body: [UInt8]
        package var headers: [PushHeader]
        package var devices: Int
        /// Why these devices would get nothing at all.
        package var refusal: Refusal?
    }

    /// How many registrations the audience names, whatever their kind.
    package var matched: Int
    /// In the order in which they would be sent.
    package var groups: [Group]
    /// How many more groups there are.
    package var furtherGroups: Int
    /// Where nobody would get anything: what comes close, in words.
    package var nearMisses: [String]
}

extension SendPreview.Group {
    fileprivate init(_ group: RenderedGroup, refusal: (outcome: OutcomeName, reason: String, explanation: String)?) {
        self.init(
            platform: group.platform, templateName: group.templateName, body: group.body, headers: group.headers,
            devices: group.members.count,
            refusal: refusal.map { Refusal(outcome: $0.outcome, reason: $0.reason, explanation: $0.explanation) })
    }
}
