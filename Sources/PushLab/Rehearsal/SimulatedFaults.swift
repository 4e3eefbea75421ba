package import PushModel
import Simulators

/// Injects faults into a rehearsal's simulated services and the wires to them.
package struct SimulatedFaults: ServiceFaults {
    let wires: WireFaults
    /// The owner of the faults if several sessions share the services. `clear` removes only the owner's faults.
    var owner: String?
    /// The simulated service of a platform; nil if there is none.
    let service: @Sendable (Platform) -> (any RefusingService)?

    package func reasons(of service: Platform, at requestKind: InjectedRefusal.RequestKind) -> [String] {
        guard let service = self.service(service) else { return [] }
        return requestKind == .token ? service.grantReasons : service.reasons
    }

    package func fail(_ service: Platform, with refusal: InjectedRefusal) throws(PushError) {
        try check(refusal, of: service)
        guard let simulator = self.service(service) else { throw unknownReason(refusal, of: service) }
        let isOrdered =
            switch refusal.requestKind {
            case .send:
                simulator.fail(
                    refusal.reason, count: refusal.count, handle: refusal.handle?.simulated, owner: owner, share: refusal.share,
                    retryAfter: refusal.retryAfter)
            case .token:
                simulator.failGrants(
                    refusal.reason, count: refusal.count, owner: owner, share: refusal.share, retryAfter: refusal.retryAfter)
            }
        guard isOrdered else { throw unknownReason(refusal, of: service) }
    }

    private func check(_ refusal: InjectedRefusal, of service: Platform) throws(PushError) {
        if refusal.requestKind == .token { try checkTokens(of: service) }
        if let handle = refusal.handle, refusal.requestKind == .token || handle.platform.wire != service.wire {
            throw PushError(
                "simulator.handle",
                refusal.requestKind == .token
                    ? "access tokens of \(service.displayName) do not belong to a device"
                    : "\(service.displayName) does not serve handles of \(handle.platform.displayName)",
                hint: refusal.requestKind == .token ? "leave the device out" : "name the service of the device", status: 400)
        }
        try InjectedRefusal.check(share: refusal.share)
        guard let pause = refusal.retryAfter else { return }
        _ = try InjectedRefusal.seconds(of: .seconds(pause))
        let words = reasons(of: service, at: refusal.requestKind)
        guard let simulator = self.service(service), words.contains(refusal.reason) else { return }
        func allowsRetryAfter(_ word: String) -> Bool {
            refusal.requestKind == .token ? simulator.grantAllowsRetryAfter(word) : simulator.allowsRetryAfter(word)
        }
        guard allowsRetryAfter(refusal.reason) else {
            throw PushError(
                "simulator.retry_after", "with \"\(refusal.reason)\" \(service.displayName) does not send Retry-After",
                hint: "leave it out; it is sent with \(words.filter(allowsRetryAfter).joined(separator: ", "))", status: 400)
        }
    }

    private func unknownReason(_ refusal: InjectedRefusal, of service: Platform) -> PushError {
        let words = reasons(of: service, at: refusal.requestKind)
        let elsewhere: InjectedRefusal.RequestKind = refusal.requestKind == .token ? .send : .token
        let hint =
            if reasons(of: service, at: elsewhere).contains(refusal.reason) {
                elsewhere == .token
                    ? "it is a reason for access tokens: add at = \"token\"" : "it is a reason for notifications: leave \"at\" out"
            } else {
                nearest(refusal.reason, in: words).map { "did you mean \"\($0)\"?" } ?? "valid reasons: \(words.joined(separator: ", "))"
            }
        let what = refusal.requestKind == .token ? "the token endpoint of \(service.displayName)" : service.displayName
        return PushError("simulator.reason", "\(what) never returns the reason \"\(refusal.reason)\"", hint: hint, status: 400)
    }

    private func checkTokens(of service: Platform) throws(PushError) {
        guard self.service(service)?.grantFaults == nil else { return }
        throw PushError(
            "simulator.token", "\(service.displayName) does not issue access tokens", hint: "services that do are FCM and WNS",
            status: 400)
    }

    package func revokeTokens(of service: Platform) throws(PushError) {
        try checkTokens(of: service)
        self.service(service)?.revokeAccessTokens()
    }

    package func setLatency(_ latency: Duration, of service: Platform) { wires.setLatency(latency, of: service.wire, owner: owner) }

    package func breakConnections(_ service: Platform, count: Int, afterRequest: Bool) {
        wires.add(afterRequest ? .afterRequest : .beforeRequest, count: count, to: service.wire, owner: owner)
    }

    package func clear(_ service: Platform) {
        self.service(service)?.clearFaults(of: owner)
        wires.clear(service.wire, of: owner)
    }
}

extension Platform {
    /// GCM registrations are delivered through FCM's v1 API: both platforms share one wire.
    fileprivate var wire: Platform { self == .gcm ? .fcmV1 : self }
}

extension DeviceHandle {
    /// The handle as the simulators store it: APNs tokens in lower case.
    fileprivate var simulated: String { platform == .apns ? text.lowercased() : text }
}
