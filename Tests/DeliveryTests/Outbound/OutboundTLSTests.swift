import HTTPTypes
import PushModel
import Testing

@testable import Delivery

/// Requests over TLS.
@Suite struct OutboundTLSTests {
    private static let names = ["localhost": ["127.0.0.1"], "service.test": ["127.0.0.1"]]

    private func code(_ result: Result<OutboundResponse, PushError>) -> String? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test func `a server with a trusted certificate for its name is reached`() async throws {
        let identity = try TestIdentity("service.test")
        let server = try await CannedServer(
            .answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), tls: identity.serverTLS)
        let bench = OutboundBench(Self.names, trust: identity.trust)
        let answer = try await bench.result(OutboundRequest(url: "https://service.test:\(server.port)/x")).get()
        #expect(answer.text == "ok" && answer.url == "https://service.test:\(server.port)/x")
        #expect(server.requests.first?.contains("\r\nHost: service.test:\(server.port)\r\n") == true)
        try await server.stop()
    }

    @Test func `a server with another name or an untrusted certificate is not sent anything`() async throws {
        let (identity, other) = (try TestIdentity("localhost"), try TestIdentity("localhost"))
        let server = try await CannedServer(.silent, tls: identity.serverTLS)
        for (host, trust) in [
            ("service.test", identity.trust), ("127.0.0.1", identity.trust), ("localhost", other.trust), ("localhost", TLSTrust()),
        ] {
            let bench = OutboundBench(Self.names, trust: trust)
            let request = OutboundRequest(url: "https://\(host):\(server.port)/x?hush", headers: [PushHeader("Authorization", "hush")])
            let error = await bench.failure(request)
            #expect(error?.code == "http.tls", "\(host)")
            #expect(error?.message.hasPrefix("\(host):\(server.port)/x: ") == true && error?.description.contains("hush") == false)
        }
        #expect(server.requests.isEmpty)
        try await server.stop()
    }

    @Test func `an address is reached with a certificate that names it`() async throws {
        let ok = CannedServer.Behaviour.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        for (address, expected) in [([127, 0, 0, 1], nil), ([127, 0, 0, 2], "http.tls")] as [([UInt8], String?)] {
            let identity = try TestIdentity("service.test", addresses: [address])
            let server = try await CannedServer(ok, tls: identity.serverTLS)
            let bench = OutboundBench(Self.names, trust: identity.trust)
            #expect(code(await bench.result(OutboundRequest(url: "https://127.0.0.1:\(server.port)/"))) == expected)
            try await server.stop()
        }
    }

    @Test func `a server without TLS is not reached over https`() async throws {
        let server = try await CannedServer(.greeting("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
        let request = OutboundRequest(url: "https://service.test:\(server.port)/")
        #expect(code(await OutboundBench().result(request)) == "http.tls")
        #expect(server.accepted == 1)
        try await server.stop()
    }

    /// Data of the server may arrive before the result of connecting is read.
    @Test func `a server that sends first is read`() async throws {
        let identity = try TestIdentity("service.test")
        let server = try await CannedServer(.greeting("SSH-2.0-OpenSSH_9.2\r\n"))
        let request = OutboundRequest(url: "https://service.test:\(server.port)/")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    for _ in 0..<20 { #expect(code(await OutboundBench(Self.names, trust: identity.trust).result(request)) == "http.tls") }
                }
            }
        }
        #expect(server.accepted == 240)
        try await server.stop()
    }

    @Test(arguments: [false, true])
    func `an answer that ends with its connection is complete with close_notify and an error without it`(isCut: Bool) async throws {
        let identity = try TestIdentity("service.test")
        let server = try await CannedServer(.parting("HTTP/1.1 200 OK\r\n\r\nhalf", isCut: isCut), tls: identity.serverTLS)
        let bench = OutboundBench(Self.names, trust: identity.trust)
        let result = await bench.result(OutboundRequest(url: "https://service.test:\(server.port)/"))
        #expect(code(result) == (isCut ? "http.unreachable" : nil))
        if !isCut { #expect(try result.get().text == "half") }
        try await server.stop()
    }

    @Test func `a redirect from https must lead to https, one from http may lead to either`() async throws {
        let identity = try TestIdentity("service.test")
        let plain = try await CannedServer(.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
        let secure = try await CannedServer(
            .answering("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://service.test:\(plain.port)/\r\n\r\n"), tls: identity.serverTLS)
        let first = try await CannedServer(
            .answering("HTTP/1.1 307 Temporary Redirect\r\nLocation: https://service.test:\(secure.port)/?hush\r\n\r\n"))
        let bench = OutboundBench(Self.names, trust: identity.trust)
        let reach = try OutboundBench.reach(private: [first, secure, plain].map { "service.test:\($0.port)" })
        let request = OutboundRequest(url: "http://service.test:\(first.port)/", headers: [PushHeader("Authorization", "Bearer t")])
        let error = await bench.failure(request, within: reach)
        #expect(error?.code == "http.redirects")
        #expect(error?.message.hasPrefix("service.test:\(secure.port)/: it redirects from https to http") == true)
        // Another scheme is another origin.
        #expect(first.requests.first?.contains("Bearer t") == true && secure.requests.count == 1)
        #expect(secure.requests.first?.contains("Bearer t") == false && plain.accepted == 0)
        for server in [plain, secure, first] { try await server.stop() }
    }
}
