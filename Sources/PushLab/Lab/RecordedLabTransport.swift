package import Delivery
package import HTTPTypes
package import PushModel
package import Simulators

/// The transport of a lab's hubs. It leads only to the simulated services, applies the faults that sessions requested, and records
/// exchanges.
package struct RecordedLabTransport: PushTransport {
    package let record: RecordingTransport
    private let base: LabTransport
    private let isOfService: @Sendable (HTTPRequest) -> Bool

    /// - Parameter base: sends every request to the lab's port, whatever its host.
    package init(lab: Lab, base: any PushTransport) {
        let forLab = LabTransport(base: base, thread: lab.thread)
        let simulators = lab.simulators
        let platform: @Sendable (HTTPRequest) -> Platform? = { simulators.platform(of: $0).map(Platform.init) }
        self.base = forLab
        isOfService = { platform($0) != nil }
        record = RecordingTransport(
            FaultyTransport(base: forLab, clock: lab.clock, faults: lab.faults, platform: platform), clock: lab.clock,
            observer: lab.trace.note,
            service: { platform($0) ?? .browser })
    }

    package func destination(of authority: String) -> String { base.destination(of: authority) }

    /// Records exchanges with push services only, not requests to the control plane such as `GET /credentials`.
    package func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        isOfService(request) ? try await record.exchange(request, body: body) : try await base.exchange(request, body: body)
    }
}

/// Sends to the simulated services. The lab's clock does not advance while it waits for an answer: see ``LabThread``.
private struct LabTransport: PushTransport {
    let base: any PushTransport
    let thread: LabThread

    func destination(of authority: String) -> String { base.destination(of: authority) }

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        thread.beginOutsideWait()
        defer { thread.endOutsideWait() }
        return try await base.exchange(request, body: body)
    }
}

extension Platform {
    package init(_ platform: PhonePlatform) {
        self =
            switch platform {
            case .apns: .apns
            case .fcm: .fcmV1
            case .wns: .wns
            case .browser: .browser
            }
    }
}
