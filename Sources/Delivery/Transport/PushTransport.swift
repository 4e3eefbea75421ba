package import HTTPTypes
import PushModel

/// Performs one exchange with a push service, over the network or with a simulator in this process.
package protocol PushTransport: Sendable {
    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse

    /// The host and port that requests for this authority really go to, for error messages.
    func destination(of authority: String) -> String
}

extension PushTransport {
    /// Returns the service's response. A request that certainly was not processed is sent once more, at once.
    func attempt(_ request: HTTPRequest, body: [UInt8]) async throws(DeliveryFailure) -> PushResponse {
        do {
            do {
                return try await exchange(request, body: body)
            } catch .notSent(_) {
                return try await exchange(request, body: body)
            }
        } catch {
            switch error {
            case .notSent(let why):
                let host = request.authority.map { destination(of: $0) } ?? "the push service"
                throw DeliveryFailure(verdict: .transient(.unreachable(host, why: why), retryAfter: nil))
            case .forbidden(let why):
                let host = request.authority ?? "the push service"
                throw DeliveryFailure(verdict: .rejected(.forbidden(host, why: why)))
            case .unknown(let why):
                throw DeliveryFailure(verdict: .unknown(reason: why))
            }
        }
    }
}
