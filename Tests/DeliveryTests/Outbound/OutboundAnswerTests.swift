import PushModel
import Support
import Testing

@testable import Delivery

/// Answers of malicious or faulty servers.
@Suite struct OutboundAnswerTests {
    private let bench = OutboundBench()

    /// The result of a request to a server with this behaviour.
    private func ask(
        _ behaviour: CannedServer.Behaviour, method: String = "GET", maximumAnswer: Int = 1000
    ) async throws -> Result<OutboundResponse, PushError> {
        let server = try await CannedServer(behaviour)
        let result = await bench.result(
            OutboundRequest(method: method, url: "http://service.test:\(server.port)/x", maximumAnswer: maximumAnswer))
        // Whatever the result, no connection stays open.
        try await until { server.closed >= server.accepted }
        #expect(server.accepted == 1)
        try await server.stop()
        return result
    }

    private func code(_ result: Result<OutboundResponse, PushError>) -> String? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    private static func body(_ count: Int) -> String { String(repeating: "b", count: count) }

    @Test(arguments: [1000, 1001])
    func `a body is read up to its limit, however its end is marked`(count: Int) async throws {
        let body = Self.body(count)
        let chunks = "\(String(count - 1, radix: 16))\r\n\(body.dropFirst())\r\n1\r\nb\r\n0\r\n\r\n"
        for behaviour: CannedServer.Behaviour in [
            .answering("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n\(body)"),
            .answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"), .parting("HTTP/1.1 200 OK\r\n\r\n\(body)"),
            .parting("HTTP/1.0 200 OK\r\n\r\n\(body)"),
        ] {
            switch try await ask(behaviour) {
            case .success(let answer): #expect(count == 1000 && answer.text == body)
            case .failure(let error):
                #expect(count == 1001 && error.code == "http.too_large" && error.details == ["limit": 1000], "\(error)")
            }
        }
    }

    @Test func `a body announced as too large is not read`() async throws {
        #expect(code(try await ask(.answering("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"))) == "http.too_large")
    }

    @Test func `a body without an end is cut off at the limit`() async throws {
        let endless = CannedServer.Behaviour.dripping(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "64\r\n\(Self.body(100))\r\n")
        #expect(code(try await ask(endless)) == "http.too_large")
    }

    @Test func `an answer without a body has none, whatever length it states`() async throws {
        let answer = try await ask(.answering("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n"), method: "HEAD").get()
        #expect(answer.status == 200 && answer.body.isEmpty && answer.header("Content-Length") == "5000000")
        #expect(try await ask(.answering("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n")).get().body.isEmpty)
        #expect(code(try await ask(.answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb"), maximumAnswer: 0)) == "http.too_large")
    }

    @Test func `a compressed body stays compressed`() async throws {
        let answer = try await ask(.answering("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nzip")).get()
        #expect(answer.text == "zip" && answer.header("Content-Encoding") == "gzip")
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: \(String(repeating: "h", count: 65_600))\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(String(repeating: "X: \(String(repeating: "h", count: 1000))\r\n", count: 70))\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(String(repeating: "X: h\r\n", count: 300))\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: \(String(repeating: "h", count: 65_600))\r\n\r\n",
    ])
    func `headers and trailers have limits too`(text: String) async throws {
        #expect(code(try await ask(.answering(text))) == "http.too_large")
    }

    @Test func `a header without an end is cut off`() async throws {
        #expect(code(try await ask(.dripping("HTTP/1.1 200 OK\r\nX: ", Self.body(10_000)))) == "http.too_large")
    }

    @Test func `informational answers are skipped`() async throws {
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        let answer = try await ask(.answering(early + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")).get()
        #expect(answer.status == 200 && answer.text == "ok" && answer.header("Link") == nil)
    }

    @Test(arguments: [
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ])
    func `an answer that is not HTTP is an error`(text: String) async throws {
        #expect(code(try await ask(.answering(text))) == "http.unreachable")
    }

    @Test(arguments: [
        "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ])
    func `an incomplete answer is an error`(text: String) async throws {
        #expect(code(try await ask(.parting(text))) == "http.unreachable")
    }

    @Test func `bytes after the answer are ignored`() async throws {
        let twice = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        #expect(try await ask(.answering(twice + twice)).get().text == "ok")
    }
}
