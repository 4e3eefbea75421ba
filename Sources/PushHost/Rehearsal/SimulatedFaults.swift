import PushCore
import Simulators

/// The faults of the rehearsal's services and wires.
struct SimulatedFaults: ServiceFaults {
    let wires: WireFaults
    /// Whose they are, where several share the services: nobody takes back those of others.
    var owner: String?
    /// The service that serves a platform; nil for a platform that is not delivered.
    let service: @Sendable (Platform) -> (any RefusingService)?

    func reasons(of service: Platform, at place: OrderedRefusal.Place) -> [String] {
        guard let service = self.service(service) else { return [] }
        return place == .token ? service.grantReasons : service.reasons
    }

    func fail(_ service: Platform, with refusal: OrderedRefusal) throws(PushError) {
        try check(refusal, of: service)
        guard let simulator = self.service(service) else { throw unknownReason(refusal, of: service) }
        let isOrdered =
            switch refusal.place {
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

    private func check(_ refusal: OrderedRefusal, of service: Platform) throws(PushError) {
        if refusal.place == .token { try checkTokens(of: service) }
        if let handle = refusal.handle, refusal.place == .token || handle.platform.wire != service.wire {
            throw PushError(
                "simulator.handle",
                refusal.place == .token
                    ? "an access token of \(service.displayName) is for no single device"
                    : "a handle of \(handle.platform.displayName) gets nothing through \(service.displayName)",
                hint: refusal.place == .token ? "leave the device out" : "name the service of the device", status: 400)
        }
        try OrderedRefusal.check(share: refusal.share)
        guard let pause = refusal.retryAfter else { return }
        _ = try OrderedRefusal.seconds(of: .seconds(pause))
        let words = reasons(of: service, at: refusal.place)
        guard let simulator = self.service(service), words.contains(refusal.reason) else { return }
        func namesPause(_ word: String) -> Bool {
            refusal.place == .token ? simulator.grantNamesPause(word) : simulator.namesPause(word)
        }
        guard namesPause(refusal.reason) else {
            throw PushError(
                "simulator.retry_after", "with \"\(refusal.reason)\" \(service.displayName) names no seconds to wait",
                hint: "leave it out; it does with \(words.filter(namesPause).joined(separator: ", "))", status: 400)
        }
    }

    private func unknownReason(_ refusal: OrderedRefusal, of service: Platform) -> PushError {
        let words = reasons(of: service, at: refusal.place)
        let elsewhere: OrderedRefusal.Place = refusal.place == .token ? .send : .token
        let hint =
            if reasons(of: service, at: elsewhere).contains(refusal.reason) {
                elsewhere == .token
                    ? "access tokens are refused so: order it with at = \"token\"" : "notifications are refused so: leave \"at\" out"
            } else {
                nearest(refusal.reason, in: words).map { "did you mean \"\($0)\"?" } ?? "it says \(words.joined(separator: ", "))"
            }
        let what = refusal.place == .token ? "the token endpoint of \(service.displayName)" : service.displayName
        return PushError("simulator.reason", "\(what) does not refuse with \"\(refusal.reason)\"", hint: hint, status: 400)
    }

    private func checkTokens(of service: Platform) throws(PushError) {
        guard self.service(service)?.grantFaults == nil else { return }
        throw PushError(
            "simulator.token", "\(service.displayName) gives out no access tokens", hint: "services that do are FCM and WNS",
            status: 400)
    }

    func revokeTokens(of service: Platform) throws(PushError) {
        try checkTokens(of: service)
        self.service(service)?.revokeAccessTokens()
    }

    func setLatency(_ latency: Duration, of service: Platform) { wires.setLatency(latency, of: service.wire, owner: owner) }

    func breakConnections(_ service: Platform, count: Int, afterRequest: Bool) {
        wires.add(afterRequest ? .afterRequest : .beforeRequest, count: count, to: service.wire, owner: owner)
    }

    func clear(_ service: Platform) {
        self.service(service)?.clearFaults(of: owner)
        wires.clear(service.wire, of: owner)
    }
}

extension Platform {
    /// Legacy registrations are served through FCM's v1 interface: one wire.
    fileprivate var wire: Platform { self == .gcm ? .fcmV1 : self }
}

extension DeviceHandle {
    /// As the simulators spell it.
    fileprivate var simulated: String { platform == .apns ? text.lowercased() : text }
}
