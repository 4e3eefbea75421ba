import Delivery
import HTTPTypes
import PushCore
import Simulators

/// Joins connectors straight to simulators: the bytes are those that would cross the network, the network is left out but
/// for the faults that a rehearsal orders of it.
struct InProcessTransport: PushTransport {
    let services: SimulatedServices
    let clock: any HubClock
    let faults: WireFaults

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        guard let platform = services.platform(of: request), let service = services[platform] else {
            throw .notSent("no simulated service answers for \(request.authority ?? "a request without a host")")
        }
        let latency = faults.latency(of: platform)
        if latency > .zero {
            do {
                try await clock.sleep(until: clock.now + latency)
            } catch {
                throw .notSent("the run ended while the request was on its way")
            }
        }
        let fault = services.isGrant(request) ? nil : faults.nextBreak(of: platform)
        if fault == .beforeRequest { throw .notSent("the connection broke before the request was taken") }
        let (response, body) = await service.handle(request, body: body)
        if fault == .afterRequest { throw .unknown("the connection broke before the answer came") }
        return PushResponse(status: response.status, headers: response.headerFields, body: body)
    }
}
