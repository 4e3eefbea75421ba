import Delivery
import HTTPTypes
import PushCore
import Simulators

/// Joins connectors straight to simulators: the bytes are those that would cross the network, the network is left out.
struct InProcessTransport: PushTransport {
    let services: SimulatedServices

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        guard let platform = services.platform(of: request), let service = services[platform] else {
            throw .nobodyAnswers(for: request)
        }
        let (response, body) = await service.handle(request, body: body)
        return PushResponse(status: response.status, headers: response.headerFields, body: body)
    }
}

extension TransportError {
    /// A request whose host is none of the simulated services'.
    static func nobodyAnswers(for request: HTTPRequest) -> TransportError {
        .notSent("no simulated service answers for \(request.authority ?? "a request without a host")")
    }
}
