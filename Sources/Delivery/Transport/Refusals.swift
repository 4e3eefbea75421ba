import PushCore
import Synchronization

/// Rejections that the connectors pronounce themselves, before a service has answered: status 0.
extension Rejection {
    static func unreachable(_ host: String, why: String) -> Rejection {
        Rejection(
            status: 0, reason: "Unreachable",
            explanation: "\(host) could not be reached (\(why)); check the network and the service's status page",
            outcome: .pnsUnreachable)
    }

    /// The handle stays: whose fault it is, is not known.
    static func forbidden(_ host: String, why: String) -> Rejection {
        Rejection(
            status: 0, reason: "ForbiddenAddress", explanation: "nothing is sent to \(host): \(why)", outcome: .pnsUnreachable, scope: .send
        )
    }

    /// The payload cannot be delivered whatever the device: `bytes` of it against the service's `limit`.
    static func tooLarge(_ reason: String, bytes: Int, limit: Int, service: String) -> Rejection {
        Rejection(
            status: 0, reason: reason,
            explanation:
                "the payload has \(bytes) bytes and \(service) takes at most \(limit); shorten it, or send an id "
                + "that the app fetches the content with",
            outcome: .invalidNotificationSize, scope: .send)
    }

    static func malformed(_ explanation: String) -> Rejection {
        Rejection(status: 0, reason: "MalformedPayload", explanation: explanation, outcome: .pnsInterfaceError, scope: .send)
    }

    static func foreign(_ handle: DeviceHandle, to service: String) -> Rejection {
        Rejection(
            status: 0, reason: "BadChannel",
            explanation: "a handle of \(handle.platform.displayName) cannot be reached through \(service)",
            outcome: .badChannel)
    }

    /// A simulation has no room for another phone.
    static let labFull = Rejection(
        status: labFullStatus, reason: labFullReason,
        explanation: "its lab has no room for another phone; raise lab.phones, or --phones of pushhost simulate", outcome: .pnsUnavailable)
    /// Of services that name a reason in their answers, ``labFullReason`` goes with it; WNS documents no answer with this status.
    static let labFullStatus = 507

    static let abandoned = Rejection(
        status: 0, reason: "Cancelled", explanation: "the delivery was cancelled before this device's turn",
        outcome: .abandoned)
}

extension DeliveryBatch {
    /// One verdict per handle, in their order, with at most `width` handles at a time; for 1 requests go out one after the other, so
    /// that a trace repeats itself. Once `send` has thrown what is for all, or nobody has answered for long, nothing more is sent.
    ///
    /// - Parameter host: where nobody answers.
    func verdicts(
        width: Int, host: String, _ send: @escaping @Sendable (DeviceHandle) async throws(Undelivered) -> Verdict
    ) async -> [Verdict] {
        let (end, silence) = (BatchEnd(), Silence(width: width))
        return await concurrently(handles.count, width: width) { index in
            if let verdict = end.verdict { return verdict }
            if Task.isCancelled { return .transient(.abandoned, retryAfter: nil) }
            if let why = silence.why { return .transient(.unreachable(host, why: why), retryAfter: nil) }
            do throws(Undelivered) {
                let verdict = try await send(handles[index])
                silence.note(isAnswered: true)
                return verdict
            } catch {
                if error.isForAll { end.note(error.verdict) }
                silence.note(isAnswered: error.verdict.isAnswered)
                return error.verdict
            }
        }
    }

    /// The same verdict for everybody: nothing was sent.
    func refused(_ rejection: Rejection) -> [Verdict] {
        Array(repeating: .rejected(rejection), count: handles.count)
    }
}

extension Verdict {
    /// Whether it says anything that the service has said.
    fileprivate var isAnswered: Bool {
        switch self {
        case .unknown: false
        case .transient(let rejection, _): rejection.outcome != .pnsUnreachable
        case .accepted, .rejected: true
        }
    }
}

/// What ended a batch before its time: the verdict of everybody who was not sent to.
private final class BatchEnd: Sendable {
    private let first = Mutex<Verdict?>(nil)

    var verdict: Verdict? { first.withLock { $0 } }

    func note(_ verdict: Verdict) {
        first.withLock { $0 = $0 ?? verdict }
    }
}
