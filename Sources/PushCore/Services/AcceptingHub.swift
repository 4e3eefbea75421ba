/// A hub whose sends are answered as soon as they are kept, for those who cannot wait until every device has its verdict. Kept, they
/// are delivered, also by a later process.
package struct AcceptingHub: ForwardingHub {
    private let hub: NotificationHub

    package init(_ hub: NotificationHub) { self.hub = hub }

    package var base: any HubGateway { hub }

    /// The outcome is that of a notification that has just been accepted.
    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await hub.accept(request).outcome
    }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { try await hub.accept(planned).outcome }
}
