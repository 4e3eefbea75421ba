import AsyncHTTPClient
package import HTTPTypes
import NIOCore
import NIOHTTP1
package import NIOSSL
import Synchronization

/// Sends requests over the network, with HTTP/2 if the service offers it and it is enabled, otherwise HTTP/1.1. Redirects are returned like
/// other responses, and nothing is sent twice.
///
/// Await `shutdown()` before the last reference is released.
package final class HTTPClientTransport: PushTransport {
    package struct Limits: Sendable {
        /// Timeout for resolving, connecting and the TLS handshake.
        package var connect: Duration
        /// Timeout for the whole exchange, including the connection.
        package var exchange: Duration
        /// Maximum number of HTTP/1.1 connections per host. Further requests wait.
        package var connectionsPerHost: Int
        /// Maximum size of a response body, in bytes; the rest is not read. Push services document far smaller ones.
        package var answerBody: Int

        package init(
            connect: Duration = .seconds(10), exchange: Duration = .seconds(30), connectionsPerHost: Int = 64,
            answerBody: Int = 65_536
        ) {
            self.connect = connect
            self.exchange = exchange
            self.connectionsPerHost = connectionsPerHost
            self.answerBody = answerBody
        }
    }

    private let route: WebAddress?
    private let network: PublicNetwork?
    private let limits: Limits
    private let client: HTTPClient

    /// - Parameters:
    ///   - route: The address that all requests go to instead of the services, such as `http://127.0.0.1:8090` for simulators. Its path is
    ///     ignored. Requests keep their authority, so that the receiver can tell the services apart.
    ///   - network: Rejects addresses that are not public; `nil` allows all.
    ///   - tls: Trust roots and client certificate; `nil` uses the system's roots and no certificate.
    ///   - isHTTP1: Whether HTTP/2 is not offered.
    package init(
        route: WebAddress? = nil, network: PublicNetwork? = nil, limits: Limits = Limits(), tls: TLSConfiguration? = nil,
        isHTTP1: Bool = false
    ) {
        self.route = route
        self.network = network
        self.limits = limits
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            // The timeout of the exchange covers the response head; this one also covers the body.
            timeout: .init(connect: TimeAmount(limits.connect), read: TimeAmount(limits.exchange)))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, limits.connectionsPerHost)
        // The caller decides whether to retry.
        configuration.connectionPool.retryConnectionEstablishment = false
        if isHTTP1 { configuration.httpVersion = .http1Only }
        if network != nil { PublicNetwork.watch(&configuration) }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    package func destination(of authority: String) -> String { route?.authority ?? authority }

    /// Closes the connections; requests in flight fail.
    package func shutdown() async {
        try? await client.shutdown()
    }

    package func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        guard let authority = request.authority, let scheme = route?.scheme ?? request.scheme else {
            throw .notSent("the request has no host")
        }
        if let network, let address = WebAddress("\(scheme)://\(authority)/") {
            do {
                try await network.check(address.host)
            } catch {
                throw .forbidden(error.description)
            }
        }
        var message = HTTPClientRequest(url: "\(scheme)://\(route?.authority ?? authority)\(request.path ?? "/")")
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headerFields { message.headers.add(name: field.name.rawName, value: field.value) }
        message.headers.replaceOrAdd(name: "Host", value: authority)
        let outgoing = OutgoingBody(bytes: ByteBuffer(bytes: body))
        message.body = .stream(outgoing, length: .known(Int64(body.count)))
        do {
            let answer = try await client.execute(message, timeout: TimeAmount(limits.exchange))
            var headers = HTTPFields()
            for (name, value) in answer.headers {
                if answer.version.major > 1, Self.framing.contains(name.lowercased()) { continue }
                if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
            }
            return PushResponse(
                status: .init(code: Int(answer.status.code)), headers: headers, body: try await read(answer.body))
        } catch let error as PublicNetwork.Refusal {
            throw .forbidden(error.description)
        } catch {
            // An empty body is never read, so it is unknown whether such a request was sent.
            throw outgoing.wasTaken || body.isEmpty ? .unknown(Self.reason(error)) : .notSent(Self.reason(error))
        }
    }

    /// HTTP/2 has frames instead of these (RFC 9113, section 8.2.2); the client library adds them.
    private static let framing: Set<String> = ["transfer-encoding", "content-length"]

    /// Reads the body, up to the limit.
    private func read(_ body: HTTPClientResponse.Body) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await part in body {
            bytes += part.readableBytesView.prefix(limits.answerBody - bytes.count)
            if bytes.count >= limits.answerBody { break }
        }
        return bytes
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? HTTPClientError else { return ConnectionFault.text(error) }
        return switch error {
        case .deadlineExceeded: "the response timed out"
        case .connectTimeout: "the connection timed out"
        case .remoteConnectionClosed: "the connection was closed"
        default: error.shortDescription.excerpt
        }
    }
}

/// The body of one request, which records whether the connection has read it. Before that, at most the head has been sent, and no service
/// acts on an incomplete request.
private final class OutgoingBody: AsyncSequence, Sendable {
    private let bytes: ByteBuffer
    private let isTaken = Atomic(false)

    init(bytes: ByteBuffer) {
        self.bytes = bytes
    }

    var wasTaken: Bool { isTaken.load(ordering: .acquiring) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let body: OutgoingBody

        mutating func next() async -> ByteBuffer? {
            body.isTaken.exchange(true, ordering: .acquiringAndReleasing) ? nil : body.bytes
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }
}
