import Delivery
import HTTPTypes
import PushModel
import Testing

/// Requests over real sockets.
@Suite struct HTTPClientTransportTests {
    private static func request(_ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(
            method: .post, scheme: "https", authority: "api.push.apple.com", path: "/3/device/00fc?a=b", headerFields: fields)
    }

    /// The result of one request to a port of this machine, or the error.
    private static func exchange(
        port: Int, scheme: String = "http", limits: HTTPClientTransport.Limits = .init().generous, body: [UInt8] = Array("hello".utf8),
        request: HTTPRequest = request()
    ) async throws -> Result<PushResponse, TransportError> {
        let transport = HTTPClientTransport(route: WebAddress("\(scheme)://127.0.0.1:\(port)"), limits: limits)
        let result: Result<PushResponse, TransportError>
        do throws(TransportError) {
            result = .success(try await transport.exchange(request, body: body))
        } catch {
            result = .failure(error)
        }
        await transport.shutdown()
        return result
    }

    private static func isNotSent(_ result: Result<PushResponse, TransportError>) -> Bool {
        if case .failure(.notSent) = result { true } else { false }
    }

    private static func isUnknown(_ result: Result<PushResponse, TransportError>) -> Bool {
        if case .failure(.unknown) = result { true } else { false }
    }

    @Test func `an unreachable service is named by the address that was tried`() async throws {
        let port = ClosedPort()
        let place = "127.0.0.1:\(port.number)"
        let transport = HTTPClientTransport(route: WebAddress("http://\(place)"))
        let clock = VirtualClock(now: Accounts.start)
        let connectors: [(any Connector, DeliveryBatch)] = [
            (try APNsConnector(settings: Accounts.apns, transport: transport, clock: clock), .apns()),
            (try FCMConnector(settings: Accounts.fcm, transport: transport, clock: clock), .fcm()),
            (try WNSConnector(settings: Accounts.wns, transport: transport, clock: clock), .wns()),
        ]
        for (connector, batch) in connectors {
            guard case .transient(let rejection, _)? = await connector.deliver(batch).first else {
                Issue.record("\(batch.platform)")
                continue
            }
            #expect(rejection.explanation.hasPrefix("\(place) could not be reached ("), "\(rejection.explanation)")
        }
        let channels = try APNsChannels(
            settings: Accounts.apns, transport: transport, clock: clock, random: SeededRandom(seed: 1))
        do throws(PushError) {
            _ = try await channels.all()
            Issue.record("somebody answered")
        } catch {
            #expect(error.message.hasPrefix("\(place) did not respond: "), "\(error)")
        }
        await transport.shutdown()
        withExtendedLifetime(port) {}
    }

    @Test func `a routed request names the host that it is for, and the answer is complete`() async throws {
        let server = try await CannedServer(
            .answering("HTTP/1.1 410 Gone\r\napns-id: 7\r\nContent-Length: 25\r\n\r\n{\"reason\":\"Unregistered\"}"))
        let response = try await Self.exchange(
            port: server.port, request: Self.request([.authorization: "bearer t", .contentLength: "5"])
        ).get()
        #expect(response.status == 410)
        #expect(response.headers[try #require(HTTPField.Name("apns-id"))] == "7")
        #expect(String(decoding: response.body, as: UTF8.self) == "{\"reason\":\"Unregistered\"}")
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("POST /3/device/00fc?a=b HTTP/1.1\r\n"))
        #expect(request.contains("\r\nHost: api.push.apple.com\r\n"))
        #expect(request.contains("\r\nAuthorization: bearer t\r\n"))
        #expect(request.lowercased().ranges(of: "content-length").count == 1)
        #expect(request.hasSuffix("\r\n\r\nhello"))
        try await server.stop()
    }

    @Test func `without a route a request goes to its own host`() async throws {
        let server = try await CannedServer(.answering("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"))
        let transport = HTTPClientTransport(limits: .init().generous)
        let request = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/push")
        #expect(try await transport.exchange(request, body: [1]).status == 201)
        await transport.shutdown()
        try await server.stop()
    }

    @Test func `a refused connection means that nothing was sent`() async throws {
        let port = ClosedPort()
        #expect(Self.isNotSent(try await Self.exchange(port: port.number)))
        withExtendedLifetime(port) {}
    }

    @Test func `a failed TLS handshake means that nothing was sent`() async throws {
        let silent = try await CannedServer(.silent)
        let limits = HTTPClientTransport.Limits(connect: .milliseconds(50))
        #expect(Self.isNotSent(try await Self.exchange(port: silent.port, scheme: "https", limits: limits)))
        try await silent.stop()
    }

    @Test func `when the service closes after the request, its effect is unknown`() async throws {
        let server = try await CannedServer(.closing)
        #expect(Self.isUnknown(try await Self.exchange(port: server.port)))
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test func `when the service does not answer in time, its effect is unknown`() async throws {
        let server = try await CannedServer(.silent)
        let limits = HTTPClientTransport.Limits(exchange: .milliseconds(200))
        var result: Result<PushResponse, TransportError>
        // On a busy machine the time may be over before anything is sent.
        repeat {
            result = try await Self.exchange(port: server.port, limits: limits)
        } while Self.isNotSent(result) && server.requests.isEmpty
        #expect(Self.isUnknown(result))
        try await server.stop()
    }

    @Test func `an answer that is too large is read up to the limit`() async throws {
        let large = String(repeating: "x", count: 1 << 20)
        let server = try await CannedServer(.answering("HTTP/1.1 200 OK\r\nContent-Length: \(large.utf8.count)\r\n\r\n\(large)"))
        let response = try await Self.exchange(port: server.port, limits: .init(answerBody: 1000).generous).get()
        #expect(response.status == 200)
        #expect(response.body.count == 1000)
        try await server.stop()
    }

    @Test func `a redirect is an answer and is not followed`() async throws {
        let server = try await CannedServer(
            .answering("HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"))
        #expect(try await Self.exchange(port: server.port).get().status == 307)
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test func `whether a request without a body was sent is unknown`() async throws {
        let port = ClosedPort()
        #expect(Self.isUnknown(try await Self.exchange(port: port.number, body: [])))
        withExtendedLifetime(port) {}
    }
}
