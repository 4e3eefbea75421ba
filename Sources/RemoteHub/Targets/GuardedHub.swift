package import PushModel

/// A hub that sends only what a check has approved.
package struct GuardedHub: ForwardingHub {
    /// Throws to reject a send.
    /// - Parameter registered: A device that the send registers first and therefore reaches too.
    package typealias Guard = @Sendable (_ request: NotificationRequest, _ registered: DeviceHandle?) async throws(PushError) -> Void

    package let base: any HubGateway
    private let check: Guard

    package init(_ base: any HubGateway, check: @escaping Guard) {
        self.base = base
        self.check = check
    }

    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await check(request, nil)
        return try await base.send(request)
    }

    package func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await check(request, nil)
        return try await base.schedule(request, at: dueTime)
    }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        let plan = try await base.plan(planned.binding.id)
        let content = planned.content ?? plan.content ?? .template([:])
        try await check(
            NotificationRequest(
                audience: plan.audience, content: content, options: planned.options, pace: planned.pace, plan: planned.binding), nil)
        return try await base.send(planned)
    }

    package func cancel(notification id: String) async throws(PushError) { try await base.cancel(notification: id) }
}
