import PushModel
import Synchronization

/// Rejections by the connectors themselves, before a service has responded; their status is 0.
extension Rejection {
    static func unreachable(_ host: String, why: String) -> Rejection {
        Rejection(
            status: 0, reason: "Unreachable",
            explanation: "\(host) could not be reached (\(why)); check the network and the service's status page",
            outcome: .pnsUnreachable)
    }

    /// The device is not removed: the fault may be elsewhere.
    static func forbidden(_ host: String, why: String) -> Rejection {
        Rejection(
            status: 0, reason: "ForbiddenAddress", explanation: "nothing is sent to \(host): \(why)", outcome: .pnsUnreachable, scope: .send
        )
    }

    /// The payload is too large for every device. `bytes` is its size and `limit` the service's limit.
    static func tooLarge(_ reason: String, bytes: Int, limit: Int, service: String) -> Rejection {
        Rejection(
            status: 0, reason: reason,
            explanation:
                "the payload has \(bytes) bytes and \(service) accepts at most \(limit); shorten it, or send an id "
                + "that the app fetches the content with",
            outcome: .invalidNotificationSize, scope: .send)
    }

    static func malformed(_ explanation: String) -> Rejection {
        Rejection(status: 0, reason: "MalformedPayload", explanation: explanation, outcome: .pnsInterfaceError, scope: .send)
    }

    static func foreign(_ handle: DeviceHandle, to service: String) -> Rejection {
        Rejection(
            status: 0, reason: "BadChannel",
            explanation: "a \(handle.platform.displayName) handle cannot be reached through \(service)",
            outcome: .badChannel)
    }

    /// A lab has reached its limit of devices.
    static let labFull = Rejection(
        status: labFullStatus, reason: labFullReason,
        explanation: "the lab has reached its limit of phones; raise lab.phones, or --phones of pushhost simulate",
        outcome: .pnsUnavailable)
    /// The status of ``labFull``. Services with reasons in their responses send ``labFullReason`` as well; WNS documents no response with
    /// this status.
    static let labFullStatus = 507

    static let abandoned = Rejection(
        status: 0, reason: "Cancelled", explanation: "the delivery was cancelled before the push for this device was sent",
        outcome: .abandoned)
}

extension DeliveryBatch {
    /// Returns one verdict per handle, in order, with at most `width` concurrent requests. With 1 they are sent one after the other, so
    /// that traces are reproducible. Stops after an error that is for all, or when the service has not responded for long.
    ///
    /// - Parameter host: The host to name if the service does not respond.
    func verdicts(
        width: Int, host: String, _ send: @escaping @Sendable (DeviceHandle) async throws(DeliveryFailure) -> Verdict
    ) async -> [Verdict] {
        let (end, silence) = (BatchEnd(), Silence(width: width))
        return await concurrently(handles.count, width: width) { index in
            if let verdict = end.verdict { return verdict }
            if Task.isCancelled { return .transient(.abandoned, retryAfter: nil) }
            if let why = silence.why { return .transient(.unreachable(host, why: why), retryAfter: nil) }
            do throws(DeliveryFailure) {
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

    /// The same rejection for every device: nothing was sent.
    func refused(_ rejection: Rejection) -> [Verdict] {
        Array(repeating: .rejected(rejection), count: handles.count)
    }
}

extension Verdict {
    /// Whether the service responded.
    fileprivate var isAnswered: Bool {
        switch self {
        case .unknown: false
        case .transient(let rejection, _): rejection.outcome != .pnsUnreachable
        case .accepted, .rejected: true
        }
    }
}

/// The verdict that ended a batch early, for all devices that were not sent to.
private final class BatchEnd: Sendable {
    private let first = Mutex<Verdict?>(nil)

    var verdict: Verdict? { first.withLock { $0 } }

    func note(_ verdict: Verdict) {
        first.withLock { $0 = $0 ?? verdict }
    }
}
