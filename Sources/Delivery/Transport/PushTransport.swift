import HTTPTypes
import PushCore

/// One exchange with a push service: a real HTTP/2 connection, or straight to a simulator in this process.
package protocol PushTransport: Sendable {
    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse

    /// Where requests for this authority really go: for whoever is told that nobody answers there.
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

/// Why no answer came. The difference decides whether sending again may show a notification twice.
package enum TransportError: Error, Sendable, Equatable {
    /// The service did not process the request: never connected, stream refused, above GOAWAY's last stream (RFC 9113,
    /// sections 6.8 and 8.7). Safe to send again at once.
    case notSent(String)
    /// The request went out and no answer came: it may have been processed.
    case unknown(String)
    /// It must not be sent there, today or later.
    case forbidden(String)
}

/// The verdict stands although the service gave no answer to the notification itself.
struct Undelivered: Error, Equatable {
    let verdict: Verdict
    /// It is the sender's fault (no token to be had, a token refused twice): the rest of the batch would fare no better.
    var isForAll = false
}

extension PushTransport {
    /// The service's answer. A request that certainly was not processed is sent once more, at once.
    func attempt(_ request: HTTPRequest, body: [UInt8]) async throws(Undelivered) -> PushResponse {
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
                throw Undelivered(verdict: .transient(.unreachable(host, why: why), retryAfter: nil))
            case .forbidden(let why):
                let host = request.authority ?? "the push service"
                throw Undelivered(verdict: .rejected(.forbidden(host, why: why)))
            case .unknown(let why):
                throw Undelivered(verdict: .unknown(reason: why))
            }
        }
    }
}
