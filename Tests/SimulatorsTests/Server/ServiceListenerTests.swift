import HTTPTypes
import NIOSSL
import Synchronization
import Testing

@testable import Simulators

/// One service on a port of its own.
@Suite struct ServiceListenerTests {
    /// Answers with the request's path and body, and counts requests.
    private final class Echo: SimulatedService {
        let hosts: Set<String> = ["echo.example"]
        let requests = Mutex(0)

        func handle(_ request: HTTPRequest, body: [UInt8]) async -> (response: HTTPResponse, body: [UInt8]) {
            requests.withLock { $0 += 1 }
            var fields = HTTPFields()
            fields.add("echo-path", request.path ?? "")
            return (HTTPResponse(status: .ok, headerFields: fields), body)
        }
    }

    private let echo = Echo()
    private let time = ManualTime()

    private func request(_ path: String) -> [(String, String)] {
        [(":method", "POST"), (":scheme", "https"), (":authority", "echo.example"), (":path", path)]
    }

    private func listener() async throws -> (listener: ServiceListener, certificate: String) {
        let identity = try #require(ServerIdentity(now: time.clock))
        return (try await ServiceListener(service: echo, identity: identity), identity.certificate)
    }

    @Test func `a request reaches the service, and its complete answer returns`() async throws {
        let (listener, certificate) = try await listener()
        let caller = try await HTTP2Caller(port: listener.port, trusting: certificate)
        for path in ["/a", "/b"] {
            let answer = try await caller.send(request(path), Array("hello \(path)".utf8))
            #expect(answer.status == 200)
            #expect(answer.fields == ["echo-path": path])
            #expect(answer.text == "hello \(path)")
        }
        await listener.end()
        try await caller.wait { _, isClosed in isClosed }
    }

    @Test func `a broken answer does not reach the client, but the service has processed the request`() async throws {
        let (listener, certificate) = try await listener()
        let caller = try await HTTP2Caller(port: listener.port, trusting: certificate)
        listener.breakNext(.answer)
        #expect(try await caller.send(request("/a")).status == 0)
        #expect(echo.requests.withLock { $0 } == 1)
        // The fault applies once.
        let next = try await HTTP2Caller(port: listener.port, trusting: certificate)
        #expect(try await next.send(request("/b")).status == 200)
        await listener.end()
    }

    @Test func `a broken connection delivers no request`() async throws {
        let (listener, certificate) = try await listener()
        listener.breakNext(.connection)
        // It may break before the client has finished connecting.
        let broken = try? await HTTP2Caller(port: listener.port, trusting: certificate)
        if let broken { #expect(try await broken.send(request("/a")).status == 0) }
        #expect(echo.requests.withLock { $0 } == 0)
        let next = try await HTTP2Caller(port: listener.port, trusting: certificate)
        #expect(try await next.send(request("/b")).status == 200)
        // A withdrawn fault has no effect.
        listener.breakNext(.connection)
        listener.breakNext(nil)
        let third = try await HTTP2Caller(port: listener.port, trusting: certificate)
        #expect(try await third.send(request("/c")).status == 200)
        await listener.end()
    }
}
