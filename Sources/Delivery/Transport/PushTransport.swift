import HTTPTypes
import PushModel

/// Performs one exchange with a push service, over the network or with a simulator in this process.
package protocol PushTransport: Sendable {
    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse

    /// The host and port that requests for this authority really go to, for error messages.
    func destination(of authority: String) -> String
}

extension PushTransport {
    package func destination(of authority: String) -> String { authority }
}

package struct PushResponse: Sendable {
    package var status: HTTPResponse.Status
    package var headers: HTTPFields
    package var body: [UInt8]

    package init(status: HTTPResponse.Status, headers: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Why there is no response. The difference decides whether sending again may show a notification twice.
package enum TransportError: Error, Sendable, Equatable {
    /// The service did not process the request: not connected, stream refused, or above the last stream of GOAWAY (RFC 9113, sections 6.8
    /// and 8.7). Safe to send again at once.
    case notSent(String)
    /// The request was sent and no response came: it may have been processed.
    case unknown(String)
    /// The address is not allowed, now or later.
    case forbidden(String)
}

/// A verdict reached without a response to the notification itself.
struct DeliveryFailure: Error, Equatable {
    let verdict: Verdict
    /// Whether the sender is at fault (no access token, or a token rejected twice), so that the rest of the batch would fail too.
    var isForAll = false
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
