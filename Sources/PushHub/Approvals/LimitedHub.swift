package import PushModel

/// A hub for senders with a ceiling, such as flows and plugins.
///
/// A send above the ceiling throws `approval.required` (403), and is sent once it has been approved.
package struct LimitedHub: ForwardingHub {
    private let hub: NotificationHub
    private let admission: SendAdmission?
    private let waitsForResults: Bool

    /// - Parameters:
    ///   - admission: checks each send first; nil for no check.
    ///   - waitsForResults: whether a send returns its results. If not, it returns as soon as the notification is stored. Stored
    ///     notifications are delivered in the background, after a crash by the next process.
    package init(_ hub: NotificationHub, _ admission: SendAdmission?, waitsForResults: Bool) {
        (self.hub, self.admission, self.waitsForResults) = (hub, admission, waitsForResults)
    }

    package var base: any HubGateway { hub }

    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        guard waitsForResults else { return try await hub.accept(request, admission: admission).outcome }
        return try await hub.send(request, admission: admission)
    }

    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try await send(try await hub.request(planned))
    }

    package func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await hub.accept(request, at: dueTime, admission: admission).outcome
    }

    package func cancel(notification id: String) async throws(PushError) { try await base.cancel(notification: id) }
}
