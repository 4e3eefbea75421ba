import PushModel
import Testing

@testable import Delivery

/// Which requests are sent and which are refused.
@Suite struct OutboundRequestTests {
    private static let empty = "HTTP/1.1 204 No Content\r\n\r\n"
    private let bench = OutboundBench()

    @Test func `a request is sent as given, and its answer is returned unchanged`() async throws {
        let server = try await CannedServer(
            .answering("HTTP/1.1 418 I'm a teapot\r\nX-Kind: one\r\nx-kind: two\r\nContent-Length: 5\r\n\r\nshort"))
        let url = "http://service.test:\(server.port)/brew/tea?cup=1&cup=2"
        let request = OutboundRequest(
            method: "PUT", url: url + "#fragment",
            headers: [PushHeader("Authorization", "Bearer t"), PushHeader("X-Kind", "a"), PushHeader("X-Kind", "b")],
            body: Array("leaves".utf8))
        let answer = try await bench.result(request).get()
        let own = "User-Agent: PushHost\r\nContent-Length: 6\r\nConnection: close\r\n"
        #expect(
            server.requests == [
                "PUT /brew/tea?cup=1&cup=2 HTTP/1.1\r\nHost: service.test:\(server.port)\r\nAuthorization: Bearer t\r\n"
                    + "X-Kind: a\r\nX-Kind: b\r\n\(own)\r\nleaves"
            ])
        let headers = [PushHeader("X-Kind", "one"), PushHeader("x-kind", "two"), PushHeader("Content-Length", "5")]
        #expect(answer == OutboundResponse(status: 418, headers: headers, body: Array("short".utf8), url: url))
        try await server.stop()
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func `each method is sent, with a length if it has a body`(method: String) async throws {
        let server = try await CannedServer(.answering(Self.empty))
        let request = OutboundRequest(
            method: method, url: "http://service.test:\(server.port)", headers: [PushHeader("user-agent", "plugin/1")])
        #expect(try await bench.result(request).get().status == 204)
        let sent = try #require(server.requests.first)
        #expect(sent.hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(sent.contains("\r\nContent-Length: 0\r\n") == ["POST", "PUT", "PATCH"].contains(method))
        #expect(!sent.lowercased().contains("transfer-encoding") && !sent.contains("PushHost") && sent.contains("user-agent: plugin/1"))
        try await server.stop()
    }

    @Test(arguments: ["get", "TRACE", "CONNECT", "QUERY", "", "GET ", "GET / HTTP/1.1\r\nHost: evil"])
    func `another method is refused`(method: String) async {
        let error = await bench.failure(OutboundRequest(method: method, url: "http://service.test/"))
        #expect(error?.code == "http.method")
        #expect(error?.description.contains("evil") == false)
    }

    @Test(arguments: ["GET", "HEAD"])
    func `a method that fetches has no body`(method: String) async {
        #expect(await bench.failure(OutboundRequest(method: method, url: "http://service.test/", body: [1]))?.code == "http.method")
    }

    @Test func `a body has at most one mebibyte`() async throws {
        let server = try await CannedServer(.answering(Self.empty))
        let url = "http://service.test:\(server.port)/"
        let body = [UInt8](repeating: 0x61, count: OutboundRequest.maximumBody)
        #expect(try await bench.result(OutboundRequest(method: "POST", url: url, body: body)).get().status == 204)
        let error = await bench.failure(OutboundRequest(method: "POST", url: url, body: body + [0x61]))
        #expect(error?.code == "http.too_large")
        #expect(error?.details == ["limit": 1_048_576])
        #expect(server.accepted == 1)
        try await server.stop()
    }

    @Test(arguments: [
        "", "service.test", "/path", "//service.test/", "ftp://service.test/", "file:///etc/passwd", "javascript:alert(1)",
        "http:/service.test",
        "http://", "http:///path", "http://user:hush@service.test/", "http://hush@service.test/", "http://service.test:0/",
        "http://service.test:99999/", "http://service.test:+80/", "http://service.test\\@127.0.0.1/", "http://service.test/a b",
        "http://service.test/\r\nX: hush", "http://service.test/\u{e4}", "http://s\u{e9}rvice.test/", "http://service.test./",
        "http://.test/",
        "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://%31%32%37.0.0.1/", "http://\u{ff11}27.0.0.1/",
    ])
    func `a URL that is not absolute HTTP, or is ambiguous, is refused and not shown`(url: String) async {
        let error = await bench.failure(OutboundRequest(url: url), within: OutboundAllowlist())
        #expect(error?.code == "http.invalid_url")
        #expect(error?.description.contains("hush") == false)
        #expect(bench.lookups.isEmpty)
    }

    @Test(arguments: ["2130706433", "0x7f000001", "0x7f.0.0.1", "127.1", "127.0.1", "0177.0.0.1", "017700000001", "127.0.0.0x1", "0"])
    func `an unusual spelling of an IPv4 address is refused before a lookup`(host: String) async throws {
        let server = try await CannedServer(.answering(Self.empty))
        let reach = try OutboundBench.reach(private: ["127.0.0.1:\(server.port)"])
        let error = await bench.failure(OutboundRequest(url: "http://\(host):\(server.port)/"), within: reach)
        #expect(error?.code == "http.invalid_url")
        #expect(bench.lookups.isEmpty && server.accepted == 0)
        try await server.stop()
    }

    @Test func `a URL has at most 8192 bytes`() async throws {
        let server = try await CannedServer(.answering(Self.empty))
        let start = "http://service.test:\(server.port)/"
        let longest = start + String(repeating: "a", count: 8192 - start.utf8.count)
        #expect(try await bench.result(OutboundRequest(url: longest)).get().status == 204)
        #expect(await bench.failure(OutboundRequest(url: longest + "a"))?.code == "http.invalid_url")
        try await server.stop()
    }

    @Test(arguments: [
        "Host", "host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "HTTP2-Settings", "TE", "Trailer",
        "Expect", "Proxy-Authorization", "proxy-connection",
    ])
    func `headers that frame messages cannot be set`(name: String) async {
        let error = await bench.failure(OutboundRequest(url: "http://service.test/", headers: [PushHeader(name, "hush")]))
        #expect(error?.code == "http.invalid_header")
        #expect(error?.message.contains(name.lowercased()) == true && error?.description.contains("hush") == false)
    }

    @Test(arguments: ["", " ", "X A", "X:", ":path", "X\r\nEvil", "X\0", "\u{e4}", "(x)"])
    func `a header name must be a token`(name: String) async {
        let headers = [PushHeader("X-Good", "1"), PushHeader(name, "hush")]
        let error = await bench.failure(OutboundRequest(url: "http://service.test/", headers: headers))
        #expect(error?.code == "http.invalid_header")
        #expect(error?.message.contains("header 2") == true && error?.description.contains("hush") == false)
    }

    @Test(arguments: ["hush\r\nEvil: 1", "hush\nEvil: 1", "hush\r", "hush\0", "hush\u{1}", "hush\u{7f}", " hush", "hush\t"])
    func `a header value with line breaks or control characters is refused`(value: String) async {
        let error = await bench.failure(OutboundRequest(url: "http://service.test/", headers: [PushHeader("X-Key", value)]))
        #expect(error?.code == "http.invalid_header")
        #expect(error?.message.contains("x-key") == true && error?.description.contains("hush") == false)
    }

    @Test func `headers have at most 32 KiB`() async throws {
        let server = try await CannedServer(.answering(Self.empty))
        func request(_ bytes: Int) -> OutboundRequest {
            OutboundRequest(
                url: "http://service.test:\(server.port)/", headers: [PushHeader("X", String(repeating: "a", count: bytes - 1))])
        }
        #expect(try await bench.result(request(32_768)).get().status == 204)
        #expect(await bench.failure(request(32_769))?.code == "http.invalid_header")
        #expect(server.accepted == 1)
        try await server.stop()
    }
}
