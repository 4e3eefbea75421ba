import HTTPTypes
import NIOCore
import NIOPosix
import PushModel
import Support
import Testing

@testable import WebAPI

/// The memory that clients can make a server allocate, over real connections.
@Suite(.timeLimit(.minutes(5))) struct ClientMemoryTests {
    private static let echo = ScriptedPlugins([ScriptedRoute(method: "POST", bodyLimit: 8 << 20)])
    private static func head(_ length: String) -> [UInt8] {
        ServedPlugins.head("POST", "/plugins/greet", [("Connection", "close"), ("Content-Length", length)])
    }

    /// Enough bytes for one request with its answer, and little more.
    private static let little = ConnectionLimits.requestBytes + (128 << 10)

    @Test func `a body beyond the limit of its address is refused, and everything is released`() async throws {
        let buffers = ClientBuffers(limits: ClientBuffers.Limits(connection: .max, address: Self.little, server: nil))
        try await ServedPlugins.serving(Self.echo, buffers: buffers) { served in
            let refused = try await served.send(
                "POST", "/plugins/greet", [("Content-Length", "8000000")], [UInt8](repeating: 0x61, count: 2 << 20))
            #expect(refused.status == 503 && refused.code == "request.busy")
            #expect(refused.headers["retry-after"] == "1" && refused.headers["connection"] == "close")
            try await until { buffers.bytes == 0 }
            #expect(buffers.refusals == 1)
            // Chunks announce no length, and count too.
            let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x61, count: 1 << 16) + Array("\r\n".utf8)
            let chunked = try await served.send(
                "POST", "/plugins/greet", [("Transfer-Encoding", "chunked")], [[UInt8]](repeating: chunk, count: 8).flatMap { $0 })
            #expect(chunked.status == 503 && chunked.code == "request.busy")
            try await until { buffers.bytes == 0 }
            #expect(try await served.ask("POST", "/plugins/greet", [], Array("small".utf8)).json["body"] == "small")
        }
    }

    @Test(arguments: [true, false])
    func `when other clients use all memory, a request is refused before it starts, until they disconnect`(isByAddress: Bool) async throws {
        let limits = ClientBuffers.Limits(
            connection: .max, address: isByAddress ? Self.little : nil, server: isByAddress ? nil : Self.little)
        let buffers = ClientBuffers(limits: limits)
        try await ServedPlugins.serving(Self.echo, buffers: buffers) { served in
            var others: [PlainCaller] = []
            // Each has an incomplete request.
            for _ in 0..<20 where buffers.refusals == 0 {
                let caller = try await PlainCaller(port: served.port)
                let before = buffers.bytes
                try await caller.write(Self.head("100") + [0x61])
                try await until { buffers.bytes > before || buffers.refusals > 0 }
                others.append(caller)
            }
            #expect(buffers.refusals == 1 && buffers.bytes <= Self.little)
            let refused = try await served.ask("GET", "/openapi.json")
            #expect(refused.status == 503 && refused.headers["retry-after"] == "1" && refused.body.isEmpty)
            #expect(try await served.ask("GET", "/health/live").status == 200)
            for caller in others { try? await caller.close() }
            try await until { buffers.bytes == 0 }
            #expect(try await served.ask("GET", "/health/live").status == 200)
        }
    }

    @Test func `an endless head counts, and its connection is closed when there is no memory`() async throws {
        let buffers = ClientBuffers(limits: ClientBuffers.Limits(connection: .max, address: 10_000, server: nil))
        try await ServedPlugins.serving(Self.echo, buffers: buffers) { served in
            let first = try await PlainCaller(port: served.port)
            try await first.write(Array("GET / HTTP/1.1\r\nX: ".utf8) + [UInt8](repeating: 0x61, count: 8000))
            try await until { buffers.bytes == 8019 }
            let second = try await PlainCaller(port: served.port)
            try await second.write(Array("GET / HTTP/1.1\r\nX: ".utf8) + [UInt8](repeating: 0x61, count: 8000))
            #expect(try await second.all().isEmpty)
            try await first.close()
            try await until { buffers.bytes == 0 }
        }
    }

    @Test func `a head behind a request that is not answered yet counts, and is released with its connection`() async throws {
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let slow = ScriptedPlugins([
            ScriptedRoute(method: "POST") { request in
                for await _ in gate {}
                return ScriptedRoute.echo(request)
            }
        ])
        let buffers = ClientBuffers()
        try await ServedPlugins.serving(slow, buffers: buffers) { served in
            let caller = try await PlainCaller(port: served.port)
            try await caller.write(ServedPlugins.head("POST", "/plugins/greet", [("Content-Length", "3")]) + Array("abc".utf8))
            try await until { slow.lookups == 1 }
            let before = buffers.bytes
            #expect(before > ConnectionLimits.requestBytes)
            try await caller.write(Array("POST /plugins/greet HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: ".utf8))
            for count in 1...3 {
                try await caller.write([UInt8](repeating: 0x61, count: 5000))
                try await until { buffers.bytes >= before + count * 5000 }
            }
            // The complete head counts with its bytes too.
            try await caller.write(Array("\r\nContent-Length: 0\r\n\r\n".utf8))
            try await until { buffers.bytes >= before + ConnectionLimits.requestBytes + 14_000 }
            opening.finish()
            let answers = String(decoding: try await caller.all(), as: UTF8.self)
            #expect(answers.ranges(of: "HTTP/1.1 200 ").count == 2)
            try await until { buffers.bytes == 0 }
        }
    }

    @Test func `an endless head behind a request that is not answered yet ends its connection when there is no memory`() async throws {
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let slow = ScriptedPlugins([
            ScriptedRoute(method: "POST") { request in
                for await _ in gate {}
                return ScriptedRoute.echo(request)
            }
        ])
        let buffers = ClientBuffers(limits: ClientBuffers.Limits(connection: 40_000, address: nil, server: nil))
        try await ServedPlugins.serving(slow, buffers: buffers) { served in
            let caller = try await PlainCaller(port: served.port)
            try await caller.write(ServedPlugins.head("POST", "/plugins/greet", [("Content-Length", "3")]) + Array("abc".utf8))
            try await until { slow.lookups == 1 }
            // The request itself uses about half of the limit.
            try await caller.write(Array("GET / HTTP/1.1\r\nX: ".utf8) + [UInt8](repeating: 0x61, count: 30_000))
            #expect(try await caller.all().isEmpty)
            try await until { buffers.bytes == 0 }
            opening.finish()
        }
    }

    @Test func `pipelined requests are all answered, and their memory is released`() async throws {
        let buffers = ClientBuffers()
        try await ServedPlugins.serving(Self.echo, buffers: buffers) { served in
            let caller = try await PlainCaller(port: served.port)
            let one = ServedPlugins.head("POST", "/plugins/greet", [("Content-Length", "3")]) + Array("abc".utf8)
            try await caller.write([[UInt8]](repeating: one, count: 50).flatMap { $0 } + Self.head("0"))
            let answers = String(decoding: try await caller.all(), as: UTF8.self)
            #expect(answers.ranges(of: "HTTP/1.1 200 ").count == 51)
            try await until { buffers.bytes == 0 }
            #expect(buffers.refusals == 0)
        }
    }

    @Test func `endless chunk extensions are cut off, many small chunks are not`() async throws {
        try await ServedPlugins.serving(Self.echo) { served in
            let filler = [UInt8](repeating: 0x61, count: 1 << 16)
            var endless = Array("3;x=".utf8)
            for _ in 0..<16 { endless += filler }
            let refused = try await served.send("POST", "/plugins/greet", [("Transfer-Encoding", "chunked")], endless)
            #expect(refused.status == 400 && refused.code == "request.broken" && refused.text.contains("extensions"))
            // Endless trailers after the last chunk are cut off too.
            var trailers = Array("1\r\na\r\n0\r\n".utf8)
            for _ in 0..<16 { trailers += Array("X: ".utf8) + filler + Array("\r\n".utf8) }
            let caller = try await PlainCaller(port: served.port)
            try? await caller.write(
                ServedPlugins.head("POST", "/plugins/greet", [("Transfer-Encoding", "chunked"), ("Connection", "close")]) + trailers)
            let rest = try await caller.all()
            #expect(!rest.starts(with: Array("HTTP/1.1 2".utf8)))
            let small = [UInt8](repeating: 0, count: 40_000).flatMap { _ in Array("1\r\na\r\n".utf8) } + Array("0\r\n\r\n".utf8)
            let answer = try await served.send("POST", "/plugins/greet", [("Transfer-Encoding", "chunked")], small)
            #expect(answer.status == 200 && answer.json["body"]?.string?.utf8.count == 40_000)
        }
    }

    @Test func `a body with a content coding is refused wherever it would be read undecoded`() async throws {
        try await ServedPlugins.serving(Self.echo) { served in
            let token = try served.token(nil)
            for (path, coding) in [
                ("/hub/messages", "gzip"), ("/api/v1/hubs", "GZIP"), ("/hub/registrations", "identity, br"), ("/api/login", "zstd"),
                ("/hub/messages", "aes128gcm"), ("/hub/messages", "utf-8,\t\"gzip\";q=1"),
            ] {
                let answer = try await served.ask(
                    "POST", path, [token, ("Content-Encoding", coding), ("Accept", "application/problem+json")], Array("x".utf8))
                #expect(answer.status == 415 && answer.code == "request.encoding", "\(path)")
                #expect(answer.headers["accept-encoding"] == "identity")
            }
            for coding in ["identity", "utf-8", "", "\"utf-8\"", "us-ascii", "UTF-8; charset=utf-8", "unknown"] {
                let answer = try await served.ask("POST", "/api/v1/hubs", [token, ("Content-Encoding", coding)], Array("x".utf8))
                #expect(answer.status == 400 && answer.code == "request.body", "\(coding)")
            }
            // A plugin receives the encoded body.
            let seen = try await served.ask("POST", "/plugins/greet", [("Content-Encoding", "gzip")], Array("x".utf8))
            #expect(seen.status == 200 && seen.json["headers"]?["content-encoding"] == "gzip")
        }
    }

    @Test(
        arguments: [
            ("gzip", "gzip"), ("X-GZIP", "x-gzip"), ("deflate", "deflate"), ("compress", "compress"), ("x-compress", "x-compress"),
            ("br", "br"),
            ("zstd", "zstd"), ("dcb", "dcb"), ("dcz", "dcz"), ("aes128gcm", "aes128gcm"), ("exi", "exi"), ("pack200-gzip", "pack200-gzip"),
            ("identity", nil), ("", nil), (",", nil), (" ; ", nil), ("utf-8", nil), ("'utf-8'", nil), ("us-ascii", nil),
            ("iso-8859-1", nil),
            ("utf-8;gzip", nil), ("utf-8 ; q=1, Br ;q=0", "br"), ("gzipped", nil),
        ] as [(String, String?)])
    func `only registered content codings change the bytes of a body`(header: String, coding: String?) {
        #expect(ContentCoding.firstEncoded(in: header) == coding)
    }
}
