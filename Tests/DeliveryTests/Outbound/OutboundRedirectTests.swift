import PushModel
import Support
import Testing

@testable import Delivery

/// What happens when a request is redirected.
@Suite struct OutboundRedirectTests {
    private static let names = ["a.test": ["127.0.0.1"], "b.test": ["127.0.0.1"]]
    private let bench = OutboundBench(names)

    /// A plain HTTP server that answers by path.
    private func server(_ answering: @escaping @Sendable (ServiceRequest) -> ServiceReply) async throws -> ServiceServer {
        var behaviour = ServiceBehaviour()
        behaviour.protocols = nil
        return try await ServiceServer(behaviour, identity: try TestIdentity()) { request, _ in answering(request) }
    }

    /// Redirects `/start` and answers other paths.
    private func redirecting(_ status: Int = 302, to location: String) async throws -> ServiceServer {
        try await server { request in
            request.path == "/start" ? .answer(status, ["Location": location], "gone") : .answer(200, [:], "here")
        }
    }

    /// Both names at this port.
    private func reach(_ port: Int) throws -> OutboundAllowlist { try OutboundBench.reach(private: ["a.test:\(port)", "b.test:\(port)"]) }

    @Test(
        arguments: [301, 302, 303, 307, 308], ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func `each status keeps the method or changes it to GET, without the body and its headers`(status: Int, method: String) async throws {
        let server = try await redirecting(status, to: "/next?q=1")
        let hasBody = !["GET", "HEAD"].contains(method)
        let request = OutboundRequest(
            method: method, url: "http://a.test:\(server.port)/start",
            headers: [PushHeader("Content-Type", "text/plain"), PushHeader("Content-Language", "en"), PushHeader("X-Id", "7")],
            body: hasBody ? Array("body".utf8) : [])
        let answer = try await bench.result(request).get()
        #expect(answer.status == 200 && answer.url == "http://a.test:\(server.port)/next?q=1")
        let next = try #require(server.requests.last)
        let isRewritten = status == 303 && method != "HEAD" || status < 303 && method == "POST"
        #expect(server.requests.map(\.path) == ["/start", "/next?q=1"])
        #expect(next.method == (isRewritten ? "GET" : method))
        #expect(next.text == (hasBody && !isRewritten ? "body" : ""))
        #expect(next.headers["content-length"] == (hasBody && !isRewritten ? "4" : nil))
        for name in ["content-type", "content-language"] { #expect((next.headers[name] == nil) == isRewritten) }
        #expect(next.headers["x-id"] == "7")
        try await server.stop()
    }

    @Test(arguments: [300, 304, 305, 306, 201])
    func `other statuses are answers, with or without a location`(status: Int) async throws {
        let server = try await redirecting(status, to: "/next")
        let answer = try await bench.result(OutboundRequest(url: "http://a.test:\(server.port)/start")).get()
        #expect(answer.status == status && answer.header("Location") == "/next" && server.requests.count == 1)
        try await server.stop()
    }

    @Test func `a redirect without a location is an answer`() async throws {
        let server = try await server { _ in .answer(302, [:], "where to?") }
        #expect(try await bench.result(OutboundRequest(url: "http://a.test:\(server.port)/")).get().text == "where to?")
        try await server.stop()
    }

    @Test func `a request that allows no redirects gets them as answers`() async throws {
        let server = try await redirecting(to: "/next")
        let request = OutboundRequest(url: "http://a.test:\(server.port)/start", maximumRedirects: 0)
        let answer = try await bench.result(request).get()
        #expect(answer.status == 302 && answer.header("Location") == "/next" && answer.text == "gone" && server.requests.count == 1)
        try await server.stop()
    }

    @Test func `the body of a redirect is not read`() async throws {
        let target = try await CannedServer(.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
        let server = try await CannedServer(
            .answering("HTTP/1.1 302 Found\r\nLocation: http://b.test:\(target.port)/\r\nContent-Length: 99999999\r\n\r\n"))
        let reach = try OutboundBench.reach(private: ["a.test:\(server.port)", "b.test:\(target.port)"])
        #expect(try await bench.result(OutboundRequest(url: "http://a.test:\(server.port)/"), within: reach).get().status == 200)
        try await until { server.closed >= 1 }
        try await server.stop()
        try await target.stop()
    }

    // MARK: - Credentials

    private static let credentials = [
        PushHeader("Authorization", "Bearer t"), PushHeader("COOKIE", "s=1"), PushHeader("X-Api-Key", "k"),
        PushHeader("Origin", "https://x"),
    ]
    private static let common = [PushHeader("Accept", "text/plain"), PushHeader("User-Agent", "plugin/1")]

    @Test func `credentials are sent to the same origin`() async throws {
        let server = try await redirecting(to: "next")
        let url = "http://a.test:\(server.port)/start"
        #expect(try await bench.result(OutboundRequest(url: url, headers: Self.credentials + Self.common)).get().status == 200)
        let next = try #require(server.requests.last)
        for header in Self.credentials + Self.common { #expect(next.headers[header.name.lowercased()] == header.value) }
        try await server.stop()
    }

    @Test func `credentials are not sent to another host, nor back to the first one after it`() async throws {
        let server = try await server { request in
            let (host, port) = (request.authority.prefix(6), request.authority.dropFirst(6))
            switch (host, request.path) {
            case ("a.test", "/start"): return .answer(307, ["Location": "//b.test\(port)/next"])
            case ("b.test", "/next"): return .answer(307, ["Location": "http://a.test\(port)/end"])
            default: return .answer(200)
            }
        }
        let request = OutboundRequest(
            method: "POST", url: "http://a.test:\(server.port)/start", headers: Self.credentials + Self.common, body: Array("body".utf8))
        #expect(try await bench.result(request, within: reach(server.port)).get().url == "http://a.test:\(server.port)/end")
        #expect(server.requests.map(\.path) == ["/start", "/next", "/end"])
        #expect(server.requests.map(\.authority) == ["a.test", "b.test", "a.test"].map { "\($0):\(server.port)" })
        for (number, request) in server.requests.enumerated() {
            for header in Self.credentials { #expect((request.headers[header.name.lowercased()] == header.value) == (number == 0)) }
            for header in Self.common { #expect(request.headers[header.name.lowercased()] == header.value) }
            #expect(request.text == "body")
        }
        try await server.stop()
    }

    @Test func `another port is another origin`() async throws {
        let target = try await server { _ in .answer(200) }
        let server = try await redirecting(to: "http://a.test:\(target.port)/")
        let reach = try OutboundBench.reach(private: ["a.test:\(server.port)", "a.test:\(target.port)"])
        let request = OutboundRequest(url: "http://a.test:\(server.port)/start", headers: Self.credentials)
        #expect(try await bench.result(request, within: reach).get().status == 200)
        #expect(target.requests.first?.headers["authorization"] == nil)
        try await server.stop()
        try await target.stop()
    }

    // MARK: - Refused redirects

    @Test func `a redirect to a host without a grant is refused`() async throws {
        let target = try await CannedServer(.closing)
        for location in [
            "http://c.test:\(target.port)/?hush", "http://a.test:\(target.port)/?hush", "http://127.0.0.1:\(target.port)/?hush",
        ] {
            let server = try await redirecting(to: location)
            let error = await bench.failure(OutboundRequest(url: "http://a.test:\(server.port)/start"), within: try reach(server.port))
            #expect(error?.code == "http.denied" && error?.description.contains("hush") == false, "\(location)")
            try await server.stop()
        }
        #expect(target.accepted == 0 && Set(bench.lookups) == ["a.test"])
        try await target.stop()
    }

    @Test func `a redirect does not reach addresses that only another host was granted`() async throws {
        let server = try await server { _ in .answer(302, ["Location": "http://b.test:80/inner"]) }
        let reach = try OutboundBench.reach(["b.test"], private: ["a.test:\(server.port)"])
        let error = await bench.failure(OutboundRequest(url: "http://a.test:\(server.port)/start"), within: reach)
        #expect(error?.code == "http.private_address")
        #expect(error?.message.hasPrefix("b.test:80/inner: ") == true)
        try await server.stop()
    }

    @Test(arguments: [
        "ftp://b.test/", "javascript:hush", "file:///etc/passwd", "http://hush@b.test/", "http://[::1]/", "http://0x7f000001/",
        "http://127.1/", "//", "http://b.test\\@a.test/", "/a b?hush", "/\u{e4}", "http://b.test./",
    ])
    func `a redirect to an invalid address is refused`(location: String) async throws {
        let server = try await redirecting(to: location)
        let error = await bench.failure(OutboundRequest(url: "http://a.test:\(server.port)/start"))
        #expect(error?.code == "http.redirects" && error?.description.contains("hush") == false)
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test func `a redirect with two addresses is refused`() async throws {
        let server = try await CannedServer(.answering("HTTP/1.1 302 Found\r\nLocation: /a\r\nlocation: /b\r\n\r\n"))
        #expect(await bench.failure(OutboundRequest(url: "http://a.test:\(server.port)/start"))?.code == "http.redirects")
        #expect(server.accepted == 1)
        try await server.stop()
    }

    @Test(arguments: [1, 5, 10])
    func `circular redirects end at the limit`(limit: Int) async throws {
        let server = try await server { request in .answer(302, ["Location": request.path == "/1" ? "/2" : "/1"]) }
        let error = await bench.failure(OutboundRequest(url: "http://a.test:\(server.port)/1?hush", maximumRedirects: limit))
        #expect(error?.code == "http.redirects")
        #expect(error?.message == "a.test:\(server.port)/1: it was redirected more than \(limit) times")
        #expect(server.requests.count == limit + 1)
        try await server.stop()
    }

    @Test func `redirects are followed up to the limit`() async throws {
        let server = try await server { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number < 3 ? .answer(302, ["Location": "\(number + 1)"]) : .answer(200)
        }
        let answer = try await bench.result(OutboundRequest(url: "http://a.test:\(server.port)/0", maximumRedirects: 3)).get()
        #expect(answer.status == 200 && answer.url == "http://a.test:\(server.port)/3")
        try await server.stop()
    }
}
