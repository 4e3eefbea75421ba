import Delivery
import HTTPTypes
import PushCore

/// A transport whose connections can break for real.
protocol BreakableTransport: PushTransport {
    /// Throws the error of the break, unless something else goes wrong.
    func exchange(_ request: HTTPRequest, body: [UInt8], breaking fault: WireFaults.Break) async throws(TransportError) -> PushResponse
}

/// The wires to simulated push services, with the faults that a rehearsal orders of them.
struct FaultyTransport: PushTransport {
    let base: any PushTransport
    let clock: any HubClock
    let faults: WireFaults
    /// The platform whose service answers for a request; nil when none does.
    let platform: @Sendable (HTTPRequest) -> Platform?

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        guard !faults.isEmpty, let platform = platform(request) else { return try await base.exchange(request, body: body) }
        let latency = faults.latency(of: platform)
        if latency > .zero {
            do {
                try await clock.sleep(until: clock.now + latency)
            } catch {
                throw .notSent("the run ended while the request was on its way")
            }
        }
        let fault = Self.isGrant(request) ? nil : faults.nextBreak(of: platform)
        guard let fault else { return try await base.exchange(request, body: body) }
        if let wire = base as? any BreakableTransport { return try await wire.exchange(request, body: body, breaking: fault) }
        if fault == .afterRequest { _ = try await base.exchange(request, body: body) }
        throw fault.error
    }

    /// Whether a request asks for an access token and carries no notification.
    private static func isGrant(_ request: HTTPRequest) -> Bool {
        ["oauth2.googleapis.com", "login.live.com"].contains(request.authority)
    }
}
