import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// Speaks to the push services over the network: HTTP/2 where the service offers it and it is wanted, else HTTP/1.1. Redirects are answers
/// as any other, and nothing is sent twice.
///
/// `shutdown()` must be awaited before the last reference goes.
package final class HTTPClientTransport: PushTransport {
    package struct Limits: Sendable {
        /// For the name, the connection and TLS.
        package var connect: Duration
        /// For the whole exchange, the connection included.
        package var exchange: Duration
        /// To one host at a time, over HTTP/1.1. Requests beyond them wait.
        package var connectionsPerHost: Int
        /// Bytes of an answer's body; the rest is not read. What push services document is far smaller.
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
    ///   - route: Where all requests go in place of the services, such as `http://127.0.0.1:8090` for simulators;
    ///     its path does not count. They keep the authority that they are meant for, so that whoever listens there can tell
    ///     the services apart.
    ///   - network: What refuses addresses that are not public; nil reaches all.
    ///   - tls: Whom to trust and what to show; nil trusts what the system trusts and shows nothing.
    ///   - isHTTP1: Whether HTTP/2 is not even offered.
    package init(
        route: WebAddress? = nil, network: PublicNetwork? = nil, limits: Limits = Limits(), tls: TLSConfiguration? = nil,
        isHTTP1: Bool = false
    ) {
        self.route = route
        self.network = network
        self.limits = limits
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            // The limit of an exchange ends with the head of the answer; this one holds for its body as well.
            timeout: .init(connect: TimeAmount(limits.connect), read: TimeAmount(limits.exchange)))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, limits.connectionsPerHost)
        // Who sends decides whether it is worth another try.
        configuration.connectionPool.retryConnectionEstablishment = false
        if isHTTP1 { configuration.httpVersion = .http1Only }
        if network != nil { PublicNetwork.watch(&configuration) }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    package func destination(of authority: String) -> String { route?.authority ?? authority }

    /// Closes the connections; requests on their way fail.
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
            // An empty body is never asked for: whether such a request went out is not known.
            throw outgoing.wasTaken || body.isEmpty ? .unknown(Self.reason(error)) : .notSent(Self.reason(error))
        }
    }

    /// HTTP/2 has frames in place of these (RFC 9113, section 8.2.2); the client library makes them up.
    private static let framing: Set<String> = ["transfer-encoding", "content-length"]

    /// As much of the body as may be read.
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
        case .deadlineExceeded: "no answer came in time"
        case .connectTimeout: "no connection came about in time"
        case .remoteConnectionClosed: "the connection was closed"
        default: error.shortDescription.excerpt
        }
    }
}

/// The body of one request, which knows whether the connection has asked for it. Before that the head alone may have gone
/// out, and no service acts upon a request that it has not seen the end of.
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
