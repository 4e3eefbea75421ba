import Delivery
import HTTPTypes
import Simulators

/// Joins connectors straight to simulators: the bytes are those that would cross the network, the network is left out.
struct InProcessTransport: PushTransport {
    private let services: [any SimulatedService]

    init(_ services: [any SimulatedService]) {
        self.services = services
    }

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        let host = (request.authority ?? "").prefix { $0 != ":" }.lowercased()
        guard let service = services.first(where: { $0.serves(host) }) else {
            throw .notSent("no simulated service answers for \(host)")
        }
        let (response, body) = await service.handle(request, body: body)
        return PushResponse(status: response.status, headers: response.headerFields, body: body)
    }
}

extension SimulatedService {
    /// `hosts` names hosts, or all of a domain as `*.notify.windows.com`.
    fileprivate func serves(_ host: String) -> Bool {
        hosts.contains(host) || hosts.contains { $0.hasPrefix("*.") && host.hasSuffix($0.dropFirst(1)) }
    }
}
