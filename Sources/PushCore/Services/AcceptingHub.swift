/// A hub whose sends are answered as soon as they are kept, for those who cannot wait until every device has its verdict. Kept, they
/// are delivered, also by a later process.
package struct AcceptingHub: ForwardingHub {
    private let hub: NotificationHub
    private let admission: SendAdmission?

    /// - Parameter admission: keeps sends to many back; nil for none.
    package init(_ hub: NotificationHub, _ admission: SendAdmission? = nil) { (self.hub, self.admission) = (hub, admission) }

    package var base: any HubGateway { hub }

    /// The outcome is that of a notification that has just been accepted.
    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await hub.accept(request, admission: admission).outcome
    }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try await send(try await hub.request(planned))
    }
}
