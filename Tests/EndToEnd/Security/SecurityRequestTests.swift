import PushModel
import Testing

/// Invalid requests, byte by byte. After each one the server answers a valid request.
@Suite struct SecurityRequestTests {
    private static let get = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n"
    private static let post = "POST /hub/messages HTTP/1.1\r\nHost: localhost\r\n"
    private static let chunked = "Transfer-Encoding: chunked\r\n\r\n"

    /// The status lines of the responses to these bytes on a new connection, and how it ended.
    private func statuses(_ hub: ServedHub, _ bytes: [UInt8]) async throws -> (statuses: [Int], ending: WireConnection.End) {
        let connection = try WireConnection(port: hub.port)
        await connection.send(bytes)
        let (answer, ending) = await connection.rest()
        let text = String(decoding: answer, as: UTF8.self)
        return (text.matches(of: #/HTTP/1\.1 (\d{3}) /#).compactMap { Int($0.1) }, ending)
    }

    private func statuses(_ hub: ServedHub, _ text: String) async throws -> (statuses: [Int], ending: WireConnection.End) {
        try await statuses(hub, text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    private func isWell(_ hub: ServedHub) async throws -> Bool { try await hub.call("GET", "/hub/registrations/1-2-3").status == 404 }

    @Test func `ambiguous requests are rejected with 400, and nothing after them is read`() async throws {
        try await ServedHub.serving { hub in
            let smuggled = Self.get + "\r\n"
            let heads = [
                "both lengths": Self.post + "Content-Length: 4\r\n" + Self.chunked + "0\r\n\r\n",
                "both lengths, the other way round": Self.post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
                "two lengths": Self.post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
                "the same length twice": Self.post + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
                "a list of lengths": Self.post + "Content-Length: 4, 4\r\n\r\nabcd",
                "a negative length": Self.post + "Content-Length: -4\r\n\r\nabcd",
                "a length with a sign": Self.post + "Content-Length: +4\r\n\r\nabcd",
                "a length in hexadecimal": Self.post + "Content-Length: 0x4\r\n\r\nabcd",
                "a length beyond all numbers": Self.post + "Content-Length: 18446744073709551620\r\n\r\nabcd",
                "chunked, and then not": Self.post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
                "chunked, and not": Self.post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
                "not chunked": Self.post + "Transfer-Encoding: identity\r\n\r\n",
                "nearly chunked": Self.post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                "chunked for HTTP/1.0": "POST /hub/messages HTTP/1.0\r\nHost: localhost\r\n" + Self.chunked + "0\r\n\r\n",
                "a folded line": Self.get + "X: a\r\n b\r\n\r\n",
                "lines without CR": Self.get.replacing("\r", with: "") + "\n",
                "one line without CR": Self.get + "X: a\nY: b\r\n\r\n",
                "a CR alone": Self.get + "X: a\rY: b\r\n\r\n",
                "a blank before the colon": Self.post + "Content-Length : 4\r\n\r\nabcd",
                "a blank before the first name": "GET /health/live HTTP/1.1\r\n X: a\r\nHost: localhost\r\n\r\n",
                "two hosts": Self.get + "Host: elsewhere\r\n\r\n",
                "the same host twice": Self.get + "Host: localhost\r\n\r\n",
                "NUL in a value": Self.get + "X: a\0b\r\n\r\n",
                "NUL in the path": "GET /health\0/live HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "bytes that are no text in the path": "GET /hub\u{ff}\u{fe} HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "a blank in the path": "GET /health/live x HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "a method that is none": "FOO /hub HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "a tunnel": "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n",
                "another version": "GET /health/live HTTP/3.0\r\nHost: localhost\r\n\r\n",
                "HTTP/2 without TLS": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "TLS": "\u{16}\u{03}\u{01}\u{02}\0\u{01}\0\r\n\r\n",
            ]
            for (name, head) in heads {
                let (statuses, ending) = try await statuses(hub, head + smuggled)
                #expect(statuses == [400] && ending != .never, "\(name): \(statuses), \(ending)")
            }
            let token = "Authorization: \(try hub.token(.full))\r\nServiceBusNotification-Format: apple\r\n"
            let bodies = [
                "a chunk beyond all numbers": "10000000000000000\r\na\r\n0\r\n\r\n", "a negative chunk": "-1\r\na\r\n0\r\n\r\n",
                "a chunk with a prefix": "0x1\r\na\r\n0\r\n\r\n", "garbage behind a chunk": "1\r\naXX\r\n0\r\n\r\n",
                "chunks without CR": "1\na\n0\n\n", "an extension without CR": "1;a\nb\r\na\r\n0\r\n\r\n",
            ]
            for (name, body) in bodies {
                let (statuses, ending) = try await statuses(hub, Self.post + token + Self.chunked + body + smuggled)
                #expect(statuses == [400] && ending != .never, "\(name): \(statuses), \(ending)")
            }
            #expect(try await isWell(hub))
        }
    }

    @Test func `unusual but valid HTTP is accepted`() async throws {
        try await ServedHub.serving { hub in
            for (name, text, status) in [
                ("HTTP/1.0 without a host", "GET /health/live HTTP/1.0\r\n\r\n", 200),
                ("HTTP/1.1 without a host, where health is asked for", "GET /health/ready HTTP/1.1\r\nConnection: close\r\n\r\n", 200),
                ("an absolute address", "GET http://elsewhere/health/live HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n", 200),
                ("a wish for another protocol", Self.get + "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 200),
                ("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 204),
                ("another method for *", "GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405),
                ("no host elsewhere", "GET /hub HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
                ("a host that is none", "GET /hub HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n", 400),
                ("somebody before the host", "GET /hub HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n", 400),
            ] {
                let (statuses, ending) = try await statuses(hub, text)
                #expect(statuses == [status] && ending == .closed, "\(name): \(statuses), \(ending)")
            }
            let pipelined = Self.get + "\r\n"
            #expect(try await statuses(hub, pipelined + pipelined + Self.get + "Connection: close\r\n\r\n").statuses == [200, 200, 200])
            #expect(try await isWell(hub))
        }
    }

    @Test func `an HTTP/1.0 client gets one response, even with Expect`() async throws {
        try await ServedHub.serving { hub in
            let connection = try WireConnection(port: hub.port)
            let body = #"{"aps":{"alert":"Hello"}}"#
            await connection.send(
                "POST /hub/messages HTTP/1.0\r\nHost: localhost\r\nServiceBusNotification-Format: apple\r\nExpect: 100-continue\r\n"
                    + "Authorization: \(try hub.token(.full))\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let text = String(decoding: await connection.rest().bytes, as: UTF8.self)
            #expect(text.matches(of: #/HTTP/1\.\d (\d{3}) /#).map(\.1) == ["201"])
        }
    }

    @Test func `HEAD returns the response of GET without the body, on every path`() async throws {
        try await ServedHub.serving { hub in
            for path in ["/health/live", "/metrics", "/hub", "/hub/registrations", "/hub/registrations/1-2-3"] {
                let asked = try await hub.call("GET", path)
                let connection = try WireConnection(port: hub.port)
                await connection.send(
                    "HEAD \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: \(try hub.token(.full))\r\n\r\n")
                let text = String(decoding: await connection.rest().bytes, as: UTF8.self)
                #expect(text.hasPrefix("HTTP/1.1 \(asked.status) ") && text.hasSuffix("\r\n\r\n"), "\(path)")
                #expect(text.contains("Content-Type: \(asked["Content-Type"] ?? "?")\r\n"), "\(path)")
            }
        }
    }

    @Test func `path traversal is rejected`() async throws {
        try await ServedHub.serving { hub in
            for path in [
                "/hub/../hub", "/hub/%2e%2e/hub", "/hub/%2E./hub", "/./hub", "/hub/registrations/..", "/../../etc/passwd",
                "/%2e%2e/%2e%2e/etc/passwd", "/hub/%00", "/hub%0d%0aX:%20y", "/hub/registrations/%7f", "/..%2f..%2fetc%2fpasswd",
                "/hub/..%5c..%5cetc", "/hub\\..\\x", "/%c0%ae%c0%ae/hub", "/%e0%80%ae%e0%80%ae/hub", "/hub/%", "/hub/%zz", "/hub/%u002e",
                "/hub/tags/%2e%2e/registrations", "/hub%2fregistrations", "/feedback/..", "/health/live/../../hub", "/%68ub%2f..",
                "//..//hub",
            ] {
                let answer = try await hub.call("GET", path, by: .root)
                // A list of an unknown hub name is empty, as clients expect.
                #expect(
                    answer.status == 404 || answer.status == 403 || answer.status == 200 && answer.body.contains("Publicly Listed"),
                    "\(path)")
                #expect(!answer.body.contains("root:") && !answer.headers.contains { $0.name == "X" }, "\(path)")
            }
            #expect(try await isWell(hub))
        }
    }

    @Test func `heads and addresses that are too large are rejected with 431, bodies with 413, before they are read`() async throws {
        try await ServedHub.serving { hub in
            let long = String(repeating: "a", count: 40_000)
            for (name, head) in [
                ("a long address", "GET /\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                ("a long value", Self.get + "X: \(long)\r\n\r\n"), ("a long name", Self.get + "\(long): x\r\n\r\n"),
                ("many lines", Self.get + (0..<300).map { "X\($0): a\r\n" }.joined() + "\r\n"),
                ("many long lines", Self.get + (0..<60).map { "X\($0): \(long.prefix(1000))\r\n" }.joined() + "\r\n"),
            ] {
                let (statuses, ending) = try await statuses(hub, head)
                #expect(statuses == [431] && ending != .never, "\(name): \(statuses), \(ending)")
            }
            let token = "Authorization: \(try hub.token(.root))\r\nServiceBusNotification-Format: apple\r\n"
            for (method, path) in [
                ("POST", "/hub/messages"), ("POST", "/hub/messages/$batch?direct"), ("POST", "/hub/registrations"), ("PUT", "/hub"),
                ("PUT", "/hub/registrations/1-2-3"), ("PUT", "/hub/installations/i"), ("PATCH", "/hub/installations/i"),
                ("POST", "/hub/jobs"), ("POST", "/hub/schedulednotifications"),
            ] {
                let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(token)"
                // The length suffices: the client gets no 100 Continue.
                let told = try await statuses(hub, head + "Expect: 100-continue\r\nContent-Length: 1000000000000\r\n\r\n")
                #expect(told.statuses == [413] && told.ending != .never, "\(path): \(told)")
                // An unauthorized client gets no 100 Continue.
                let stranger = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n"
                #expect(try await statuses(hub, stranger).statuses == [401], "\(path)")
            }
            let piece = [UInt8](repeating: 0x61, count: 8 << 20)
            let bytes = Array((Self.post + token + Self.chunked + "800000\r\n").utf8) + piece
            // The response may be lost because the client is still sending.
            let (answered, ending) = try await statuses(hub, bytes)
            #expect((answered == [413] || answered == []) && ending != .never)
            #expect(try await isWell(hub))
        }
    }
}
