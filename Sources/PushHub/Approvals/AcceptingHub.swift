package import PushModel

/// A hub that returns from a send as soon as the notification is stored, without waiting for results. Stored notifications are delivered
/// in the background, after a crash by the next process.
package struct AcceptingHub: ForwardingHub {
    private let hub: NotificationHub
    private let admission: SendAdmission?

    /// - Parameter admission: checks each send first; nil for no check.
    package init(_ hub: NotificationHub, _ admission: SendAdmission? = nil) { (self.hub, self.admission) = (hub, admission) }

    package var base: any HubGateway { hub }

    /// Returns the outcome of the accepted notification, before delivery.
    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await hub.accept(request, admission: admission).outcome
    }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try await send(try await hub.request(planned))
    }

    package func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await hub.accept(request, at: dueTime, admission: admission).outcome
    }

    package func cancel(notification id: String) async throws(PushError) { try await base.cancel(notification: id) }
}
