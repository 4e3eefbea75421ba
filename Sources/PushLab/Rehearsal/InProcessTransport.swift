import Delivery
import HTTPTypes
import PushModel
import Simulators

/// Connects connectors directly to simulators: the bytes are the same as over a network.
struct InProcessTransport: PushTransport {
    let services: SimulatedServices

    /// The simulated host.
    func destination(of authority: String) -> String { authority }

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        guard let platform = services.platform(of: request), let service = services[platform] else {
            throw .noSimulatedService(for: request)
        }
        let (response, body) = await service.handle(request, body: body)
        return PushResponse(status: response.status, headers: response.headerFields, body: body)
    }
}

extension TransportError {
    /// The error for a request whose host belongs to no simulated service.
    static func noSimulatedService(for request: HTTPRequest) -> TransportError {
        .notSent("no simulated service has the host \(request.authority ?? "(none)")")
    }
}
