import Delivery
import HTTPTypes
import PushModel

/// Adds injected latency and broken connections to the transport to simulated push services.
struct FaultyTransport: PushTransport {
    let base: any PushTransport
    let clock: any HubClock
    let faults: WireFaults
    /// Returns the platform whose service receives the request; nil if none does.
    let platform: @Sendable (HTTPRequest) -> Platform?

    func destination(of authority: String) -> String { base.destination(of: authority) }

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        guard !faults.isEmpty, let platform = platform(request) else { return try await base.exchange(request, body: body) }
        let latency = faults.latency(of: platform)
        if latency > .zero {
            do {
                try await clock.sleep(until: clock.now + latency)
            } catch {
                throw .notSent("the run ended while the request was in flight")
            }
        }
        let fault = Self.isGrant(request) ? nil : faults.nextBreak(of: platform)
        guard let fault else { return try await base.exchange(request, body: body) }
        if let wire = base as? any BreakableTransport { return try await wire.exchange(request, body: body, breaking: fault) }
        if fault == .afterRequest { _ = try await base.exchange(request, body: body) }
        throw fault.error
    }

    /// Whether the request fetches an access token and carries no notification.
    private static func isGrant(_ request: HTTPRequest) -> Bool {
        ["oauth2.googleapis.com", "login.live.com"].contains(request.authority)
    }
}
