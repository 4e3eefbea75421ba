import PushHub
import PushModel
import Synchronization

/// The hub as one run of a server's flow sees it. Each send gets an idempotency key derived from the run's id, so that a run repeated after
/// a crash does not send unchanged notifications twice.
final class FlowHub: ForwardingHub {
    private let service: NotificationHub
    private let run: String
    private let admission: SendAdmission?
    private let account: any WorkAccount
    private let count = Atomic(0)

    /// - Parameters:
    ///   - admission: holds back sends to more devices than the flow may reach.
    ///   - account: charged for deliveries.
    init(_ service: NotificationHub, run: String, _ admission: SendAdmission?, account: any WorkAccount) {
        (self.service, self.run, self.admission, self.account) = (service, run, admission, account)
    }

    var base: any HubGateway { service }

    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        // Test sends have no idempotency key: each is sent again.
        guard !request.isTest else { return try await service.send(request, admission: admission) }
        let accepted = try await service.accept(
            request, idempotencyKey: key(request, at: nil), admission: admission, account: account)
        return try await service.finish(accepted.outcome.id)
    }

    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try await send(try await service.request(planned))
    }

    func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await service.accept(
            request, at: dueTime, idempotencyKey: key(request, at: dueTime), admission: admission, account: account
        ).outcome
    }

    func cancel(notification id: String) async throws(PushError) { try await base.cancel(notification: id) }

    /// An idempotency key from the run, the position of the send in the run, and a hash of the request.
    private func key(_ request: NotificationRequest, at dueTime: Timestamp?) -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let digits = request.fingerprint(scheduledFor: dueTime).prefix(6).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }
        return "\(run)/\(number)/\(digits.joined())"
    }

}
