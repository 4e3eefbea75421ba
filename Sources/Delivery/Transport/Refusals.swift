import PushCore

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
            status: 0, reason: "ForbiddenAddress", explanation: "nothing is sent to \(host): \(why)", outcome: .pnsUnreachable)
    }

    /// The payload cannot be delivered whatever the device: `bytes` of it against the service's `limit`.
    static func tooLarge(_ reason: String, bytes: Int, limit: Int, service: String) -> Rejection {
        Rejection(
            status: 0, reason: reason,
            explanation:
                "the payload has \(bytes) bytes and \(service) takes at most \(limit); shorten it, or send an id "
                + "that the app fetches the content with",
            outcome: .invalidNotificationSize)
    }

    static func malformed(_ explanation: String) -> Rejection {
        Rejection(status: 0, reason: "MalformedPayload", explanation: explanation, outcome: .pnsInterfaceError)
    }

    static func foreign(_ handle: DeviceHandle, to service: String) -> Rejection {
        Rejection(
            status: 0, reason: "BadChannel",
            explanation: "a handle of \(handle.platform.displayName) cannot be reached through \(service)",
            outcome: .badChannel)
    }

    static let abandoned = Rejection(
        status: 0, reason: "Cancelled", explanation: "the delivery was cancelled before this device's turn",
        outcome: .abandoned)
}

extension DeliveryBatch {
    /// One verdict per handle, in their order; requests go out one after the other, so that a trace repeats itself.
    func verdicts(_ send: (DeviceHandle) async throws(Undelivered) -> Verdict) async -> [Verdict] {
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(handles.count)
        for handle in handles {
            do {
                verdicts.append(Task.isCancelled ? .transient(.abandoned, retryAfter: nil) : try await send(handle))
            } catch {
                guard !error.isForAll else {
                    return verdicts + Array(repeating: error.verdict, count: handles.count - verdicts.count)
                }
                verdicts.append(error.verdict)
            }
        }
        return verdicts
    }

    /// The same verdict for everybody: nothing was sent.
    func refused(_ rejection: Rejection) -> [Verdict] {
        Array(repeating: .rejected(rejection), count: handles.count)
    }
}
