import PushCore
import Simulators

/// The faults of the rehearsal's services and wires.
struct SimulatedFaults: ServiceFaults {
    let wires: WireFaults
    /// Whose they are, where several share the services: nobody takes back those of others.
    var owner: String?
    /// The service that serves a platform; nil for a platform that is not delivered.
    let service: @Sendable (Platform) -> (any RefusingService)?

    func reasons(of service: Platform) -> [String] { self.service(service)?.reasons ?? [] }

    func fail(_ service: Platform, reason: String, count: Int?, handle: DeviceHandle?) throws(PushError) {
        if let handle, handle.platform.wire != service.wire {
            throw PushError(
                "simulator.handle",
                "a handle of \(handle.platform.displayName) gets nothing through \(service.displayName)",
                hint: "name the service of the device", status: 400)
        }
        guard self.service(service)?.fail(reason, count: count, handle: handle?.simulated, owner: owner) == true else {
            let words = reasons(of: service)
            throw PushError(
                "simulator.reason", "\(service.displayName) does not refuse with \"\(reason)\"",
                hint: nearest(reason, in: words).map { "did you mean \"\($0)\"?" } ?? "it says \(words.joined(separator: ", "))",
                status: 400)
        }
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
