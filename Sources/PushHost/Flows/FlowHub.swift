import PushCore
import Synchronization

/// A hub in the hands of one run of a server's flow: what the run sends is kept under the run's name, so that a run that is begun again
/// after a crash sends nothing twice that it sends again unchanged.
final class FlowHub: ForwardingHub {
    private let service: NotificationHub
    private let run: String
    private let admission: SendAdmission?
    private let count = Atomic(0)

    /// - Parameter admission: keeps sends to more devices back than its flow may reach.
    init(_ service: NotificationHub, run: String, _ admission: SendAdmission?) {
        (self.service, self.run, self.admission) = (service, run, admission)
    }

    var base: any HubGateway { service }

    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        // A test is tried anew each time.
        guard !request.isTest else { return try await service.send(request, admission: admission) }
        let accepted = try await service.accept(request, idempotencyKey: key(request, at: nil), admission: admission)
        return try await service.finish(accepted.outcome.id)
    }

    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try await send(try await service.request(planned))
    }

    func schedule(_ request: NotificationRequest, at moment: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await service.accept(request, at: moment, idempotencyKey: key(request, at: moment), admission: admission).outcome
    }

    /// The same for the same request in the same place among those of the run.
    private func key(_ request: NotificationRequest, at moment: Timestamp?) -> String {
        let place = count.wrappingAdd(1, ordering: .relaxed).newValue
        let digits = request.fingerprint(scheduledFor: moment).prefix(6).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }
        return "\(run)/\(place)/\(digits.joined())"
    }
}
