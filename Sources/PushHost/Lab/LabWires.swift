import Delivery
import HTTPTypes
import PushCore
import Simulators

/// What hubs of a lab send through: to its simulated services and nowhere else, with the faults that sessions order, and recorded.
struct LabWires: PushTransport {
    let record: RecordingTransport
    private let base: AttendedTransport
    private let isOfService: @Sendable (HTTPRequest) -> Bool

    /// - Parameter base: leads to the lab's port whatever the host of a request.
    init(lab: Lab, base: any PushTransport) {
        let attended = AttendedTransport(base: base, thread: lab.thread)
        let simulators = lab.simulators
        let platform: @Sendable (HTTPRequest) -> Platform? = { simulators.platform(of: $0).map(Platform.init) }
        self.base = attended
        isOfService = { platform($0) != nil }
        record = RecordingTransport(
            FaultyTransport(base: attended, clock: lab.clock, faults: lab.faults, platform: platform), clock: lab.clock,
            observer: lab.trace.note,
            service: { platform($0) ?? .browser })
    }

    /// What is not for a service, such as asking for the keys of all of them, is nothing to show.
    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        isOfService(request) ? try await record.exchange(request, body: body) : try await base.exchange(request, body: body)
    }
}

/// A way to the simulated services, for whose answers the lab waits: see ``LabThread``.
private struct AttendedTransport: PushTransport {
    let base: any PushTransport
    let thread: LabThread

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        thread.goOut()
        defer { thread.comeBack() }
        return try await base.exchange(request, body: body)
    }
}

extension Platform {
    init(_ platform: PhonePlatform) {
        self =
            switch platform {
            case .apns: .apns
            case .fcm: .fcmV1
            case .wns: .wns
            case .browser: .browser
            }
    }
}
