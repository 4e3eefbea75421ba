import Foundation
import HTTPTypes
import Testing

@testable import Simulators

/// HTTP/1.1 connections over TLS to Web Push and the control plane.
@Suite struct HTTP1ConnectionTests {
    private static func network() async throws -> SimulatorNetwork { try await SimulatorNetwork(serving: [.wns, .browser]) }

    private static let live = "GET /health/live HTTP/1.1\nHost: localhost\n\n"

    @Test func `a connection serves any number of requests, also pipelined ones`() async throws {
        let network = try await Self.network()
        let caller = try await HTTP1Caller(network)
        for count in 1...3 { #expect(try await caller.ask(Self.live, answers: count).line == "HTTP/1.1 200 OK") }
        let many = String(repeating: Self.live + "GET /phones HTTP/1.1\nHost: localhost\n\n", count: 1000)
        let heard = try await caller.ask(many, answers: 2003)
        #expect(heard.text.hasSuffix(#"{"phones":[]}"#))
        #expect(try network.control(.get, "/connections")["connections"]?.integer == 1)
        try await caller.close()
        await network.end()
    }

    @Test func `a connection closes after its answer when the client asks for that, or uses HTTP 1_0`() async throws {
        let network = try await Self.network()
        for request in [
            "GET /health/live HTTP/1.1\nHost: localhost\nConnection: close\n\n", "GET /health/live HTTP/1.0\n\n",
            "GET https://localhost:8443/health/live HTTP/1.1\nHost: other\nConnection: close\n\n",
        ] {
            let caller = try await HTTP1Caller(network)
            let answer = try await caller.ask(request)
            #expect(answer.line == "HTTP/1.1 200 OK" && answer.text.contains("connection: close"), "\(answer.text)")
            try await caller.hear { _, isClosed in isClosed }
        }
        await network.end()
    }

    @Test func `the answer to HEAD has the length of a body, and no body`() async throws {
        let network = try await Self.network()
        let caller = try await HTTP1Caller(network)
        try await caller.write("HEAD /nothing HTTP/1.1\nHost: localhost\nConnection: close\n\n")
        let heard = try await caller.hear { _, isClosed in isClosed }
        #expect(heard.hasPrefix("HTTP/1.1 404 Not Found\r\n") && heard.hasSuffix("\r\n\r\n"))
        #expect(heard.contains(/content-length: [1-9]/))
        await network.end()
    }

    @Test(arguments: [
        "POST /phones HTTP/1.1\nContent-Length: 0\n\n", "GET / HTTP/1.1\nHost: a\nHost: b\n\n", "no request at all\n\n",
        "GET / HTTP/1.1\nHost: a\nContent-Length: x\n\n",
    ])
    func `an invalid request is answered with 400, and the connection ends`(text: String) async throws {
        let network = try await Self.network()
        let caller = try await HTTP1Caller(network)
        #expect(try await caller.ask(text).line == "HTTP/1.1 400 Bad Request")
        try await caller.hear { _, isClosed in isClosed }
        await network.end()
    }

    @Test func `endless fields are answered with 431`() async throws {
        let network = try await Self.network()
        let caller = try await HTTP1Caller(network)
        let answer = try await caller.ask("GET / HTTP/1.1\nHost: localhost\nX: \(String(repeating: "x", count: 100_000))\n\n")
        #expect(answer.line == "HTTP/1.1 431 Request Header Fields Too Large")
        await network.end()
    }

    @Test func `a client that waits for 100 Continue gets it`() async throws {
        let network = try await Self.network()
        let caller = try await HTTP1Caller(network)
        let body = #"{"name": "eve", "platform": "browser"}"#
        try await caller.write(
            "POST /phones HTTP/1.1\nHost: localhost\nContent-Length: \(body.utf8.count)\nExpect: 100-continue\n\n")
        try await caller.hear { text, _ in text == "HTTP/1.1 100 Continue\r\n\r\n" }
        #expect(try await caller.ask(body, answers: 2).line == "HTTP/1.1 201 Created")
        try await caller.close()
        await network.end()
    }

    @Test func `a body may be chunked, except for WNS`() async throws {
        let network = try await Self.network()
        let caller = try await HTTP1Caller(network)
        let added = try await caller.ask(
            "POST /phones HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n"
                + "11\n{\"name\": \"eve\", \"\n15\nplatform\": \"browser\"}\n0\n\n")
        #expect(added.line == "HTTP/1.1 201 Created", "\(added.text)")
        let channel = WNSBench.parts(of: try #require(try network.add("tom", "wns")["handle"]?.string))
        let form = "Content-Type: application/x-www-form-urlencoded"
        let given = try await caller.ask(HTTP1Caller.post("/accesstoken.srf", network.microsoftForm, form), answers: 2)
        let refused = try await caller.ask(
            "POST \(channel.path) HTTP/1.1\nHost: \(channel.host)\nTransfer-Encoding: chunked\nX-WNS-Type: wns/raw\n"
                + "Content-Type: application/octet-stream\nAuthorization: Bearer \(HTTP1Caller.token(given.text))\n\n1\nx\n0\n\n",
            answers: 3)
        #expect(refused.line == "HTTP/1.1 400 Bad Request" && refused.text.contains("Chunked"), "\(refused.text)")
        try await caller.close()
        await network.end()
    }

    @Test(arguments: [65_536, 65_537, 300_000, 1_000_000])
    func `a body that is too large is refused, and read to its end`(size: Int) async throws {
        let network = try await Self.network()
        let caller = try await HTTP1Caller(network)
        let answer = try await caller.ask(HTTP1Caller.post("/phones", String(repeating: " ", count: size)))
        #expect(answer.line == (size == 65_536 ? "HTTP/1.1 400 Bad Request" : "HTTP/1.1 413 Payload Too Large"), "\(answer.text)")
        #expect(try await caller.ask(Self.live, answers: 2).line == "HTTP/1.1 200 OK")
        try await caller.close()
        await network.end()
    }

    @Test func `an endless body is cut off`() async throws {
        let network = try await Self.network()
        let caller = try await HTTP1Caller(network)
        try await caller.write("POST /phones HTTP/1.1\nHost: localhost\nContent-Length: 1000000000\n\n")
        let part = String(repeating: " ", count: 100_000)
        // A closed connection accepts no more bytes.
        for _ in 0..<20 { try? await caller.write(part) }
        let heard = try await caller.hear { _, isClosed in isClosed }
        #expect(heard.hasPrefix("HTTP/1.1 413 "))
        await network.end()
    }

    @Test func `on shutdown open requests are answered, and idle connections are closed`() async throws {
        let network = try await Self.network()
        let (idle, busy) = (try await HTTP1Caller(network), try await HTTP1Caller(network))
        #expect(try await idle.ask(Self.live).line == "HTTP/1.1 200 OK")
        try await busy.write("POST /wpush/v2/nobody HTTP/1.1\nHost: localhost\nExpect: 100-continue\nContent-Length: 1\n\n")
        try await busy.hear { heard, _ in heard.contains("100 Continue") }
        async let end: Void = network.end()
        try await idle.hear { _, isClosed in isClosed }
        try await busy.write(".")
        let heard = try await busy.hear { _, isClosed in isClosed }
        #expect(heard.contains("HTTP/1.1 404 Not Found") && heard.contains("connection: close"))
        await end
    }

    // MARK: - Faults

    private func push(_ network: SimulatorNetwork) throws -> String {
        let endpoint = try #require(try network.add("eve", "browser")["subscription"]?["endpoint"]?.string)
        let (host, path) = WNSBench.parts(of: endpoint)
        return try HTTP1Caller.post(path, "", host: host, "Authorization: \(network.vapid(for: "https://\(host)"))", "TTL: 0")
    }

    @Test func `every nth request is processed and then breaks its connection`() async throws {
        let network = try await Self.network()
        let push = try push(network)
        _ = try network.control(.post, "/connections", #"{"service": "webpush", "reset_every": 2}"#)
        let caller = try await HTTP1Caller(network)
        #expect(try await caller.ask(push).line == "HTTP/1.1 201 Created")
        try await caller.write(push)
        let heard = try await caller.hear { _, isClosed in isClosed }
        #expect(HTTP1Caller.answers(in: heard).count == 1)
        #expect(try network.inbox(of: "eve").count == 2)
        await network.end()
    }

    @Test func `every nth request closes its connection, or is never answered, as requested`() async throws {
        let network = try await Self.network()
        let push = try push(network)
        _ = try network.control(.post, "/connections", #"{"goaway_every": 2}"#)
        let caller = try await HTTP1Caller(network)
        #expect(try await !caller.ask(push).text.contains("connection: close"))
        #expect(try await caller.ask(push, answers: 2).text.contains("connection: close"))
        try await caller.hear { _, isClosed in isClosed }
        _ = try network.control(.delete, "/connections")
        _ = try network.control(.post, "/connections", #"{"stall_every": 3}"#)
        let stalled = try await HTTP1Caller(network)
        try await stalled.write(push)
        while try network.control(.get, "/connections")["requests"]?.integer != 3 { await Task.yield() }
        let other = try await HTTP1Caller(network)
        #expect(try await other.ask(push).line == "HTTP/1.1 201 Created")
        #expect(try await stalled.hear { _, _ in true }.isEmpty)
        #expect(try network.inbox(of: "eve").count == 4)
        for caller in [stalled, other] { try await caller.close() }
        await network.end()
    }

    @Test func `a connection fault of one service does not affect others, and a fault for all services includes it`() async throws {
        let network = try await Self.network()
        let push = try push(network)
        _ = try network.control(.post, "/connections", #"{"service": "wns", "reset_connections_every": 1}"#)
        let caller = try await HTTP1Caller(network)
        #expect(try await caller.ask(push).line == "HTTP/1.1 201 Created")
        try await caller.write(HTTP1Caller.post("/accesstoken.srf", ""))
        try await caller.hear { _, isClosed in isClosed }
        let both = try network.control(.post, "/connections", #"{"latency_ms": 1}"#)
        #expect(both["latency_ms"]?.integer == 1 && both["reset_connections_every"] == .null)
        #expect(both["services"]?["wns"]?["latency_ms"]?.integer == 1)
        #expect(both["services"]?["wns"]?["reset_connections_every"]?.integer == 1)
        #expect(try network.control(.delete, "/connections")["services"] == .object([]))
        await network.end()
    }
}
