import Foundation
import HostSupport
import PushModel
import PushRuntime
import Testing

/// Slow, silent or numerous clients. The server disconnects them, and other clients are not affected.
@Suite struct SecurityConnectionTests {
    private static let short = ["PUSHHOST_LIMITS_HEAD": "1s", "PUSHHOST_LIMITS_BODY": "1s", "PUSHHOST_LIMITS_IDLE": "1s"]

    /// A few descriptors more than a server needs, which is 64 with two event loops.
    private static let fewFiles = 58 + DescriptorLimit.sharedLoopFiles

    /// Whether other clients are served. With a one-second limit for heads, a busy machine may need some attempts.
    private func isWell(_ hub: ServedHub) async throws -> Bool {
        for _ in 0..<20 where (try? await hub.call("GET", "/hub/registrations/1-2-3"))?.status == 404 { return true }
        return false
    }

    private static func python(_ script: String, _ arguments: [String]) async throws {
        let path = BuiltProgram.root.appending(path: "Tests/EndToEnd/Clients/\(script)").path
        let run = try await BuiltProgram.run([path] + arguments, tool: URL(filePath: "/usr/bin/python3"))
        #expect(run.status == 0 && run.output == "done\n", "\(run.errors)")
    }

    @Test func `silent and slow clients are disconnected on both ports`() async throws {
        try await ServedHub.serving(settings: Self.short) { hub in
            for (name, port, bytes) in [
                ("nothing", hub.port, ""), ("nothing for TLS", hub.tlsPort, ""),
                ("half a handshake", hub.tlsPort, "\u{16}\u{03}\u{01}\u{02}"),
                ("half a head", hub.port, "GET /health/live HTTP/1.1\r\nHo"), ("empty lines", hub.port, "\r\n\r\n"),
            ] {
                let connection = try WireConnection(port: port)
                await connection.send(bytes.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
                #expect(await connection.rest().ending != .never, "\(name)")
            }
            // The same applies to a connection that was used before.
            let request = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
            var used: WireConnection?
            for _ in 0..<20 where used == nil {
                let connection = try WireConnection(port: hub.port)
                await connection.send(request)
                if try await connection.answer()?.status == 200 { used = connection }
            }
            let connection = try #require(used)
            await connection.send(String(request.prefix(20)))
            #expect(await connection.rest().ending != .never)
            #expect(try await isWell(hub))
        }
    }

    @Test func `a head or body that trickles in is cut off, however steadily it comes`() async throws {
        try await ServedHub.serving(settings: Self.short) { hub in
            let head = "POST /hub/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(try hub.token(.full))\r\n"
            // Each byte is sent as soon as the last is acknowledged, so that the connection is never idle.
            for (name, start, piece) in [
                ("head", head, "X: a\r\n"), ("body", head + "Content-Length: 60000\r\n\r\n", "{"),
                ("chunks", head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n{\r\n"),
            ] {
                let connection = try WireConnection(port: hub.port)
                await connection.send(start)
                // Trickles until the server closes.
                let isRefused = await connection.trickle(piece)
                #expect(isRefused, "\(name)")
                let text = String(decoding: await connection.rest().bytes, as: UTF8.self)
                #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 4"), "\(name): \(text.prefix(80))")
            }
            #expect(try await isWell(hub))
        }
    }

    @Test func `a body that stops is answered with 408`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LIMITS_BODY": "1s"]) { hub in
            let head = "POST /hub/messages HTTP/1.1\r\nHost: localhost\r\nServiceBusNotification-Format: apple\r\n"
            let connection = try WireConnection(port: hub.port)
            await connection.send(head + "Authorization: \(try hub.token(.full))\r\nContent-Length: 100\r\n\r\n{\"\(ServedHub.unspeakable)")
            let answer = try WireAnswer(parsing: await connection.rest().bytes)
            #expect(answer.status == 408 && answer["Connection"] == "close")
        }
    }

    @Test func `the body of a rejected request is not read: response, short grace period, close`() async throws {
        try await ServedHub.serving { hub in
            for (name, head) in [
                ("no token", "POST /hub/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"),
                ("chunks", "POST /hub/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n"),
                ("a method that is none", "PUT /hub/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"),
                ("a path that is none", "POST /hub/../x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"),
            ] {
                let connection = try WireConnection(port: hub.port)
                await connection.send(head + "0123456789")
                let answer = try #require(try await connection.answer(), "\(name)")
                #expect([401, 404, 405].contains(answer.status) && answer["Connection"] == "close", "\(name)")
                // The whole body is a gigabyte.
                let isCut = await connection.trickle(String(repeating: "a", count: 1 << 16))
                #expect(isCut, "\(name)")
            }
            // A complete body does not prevent the next request.
            let connection = try WireConnection(port: hub.port)
            for _ in 0..<2 {
                await connection.send("POST /hub/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd")
                let answer = try await connection.answer()
                #expect(answer?.status == 401 && answer?["Connection"] == nil)
            }
        }
    }

    @Test func `a thousand silent connections do not affect others`() async throws {
        // Leaves enough of this process's limit for concurrent tests.
        let count = OpenFileLimit.raised >= 4096 ? 1000 : 200
        try await ServedHub.serving(settings: ["PUSHHOST_LIMITS_HEAD": "10m"]) { hub in
            let (idle, client) = (
                try (0..<count).map { try WireConnection(port: $0 % 2 == 0 ? hub.port : hub.tlsPort) }, try WireConnection(port: hub.port)
            )
            for _ in 0..<20 {
                await client.send("GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try await client.answer()?.status == 200)
                #expect(try await isWell(hub))
            }
            let metrics = try await hub.call("GET", "/metrics", by: nil).body
            let open = try #require(metrics.firstMatch(of: /pushhost_http_connections (\d+)/).flatMap { Int($0.1) })
            #expect(open >= count)
            withExtendedLifetime(idle) {}
        }
    }

    @Test func `when the limit of connections is reached, the longest idle one is closed, and none in use`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LIMITS_CONNECTIONS": "20", "PUSHHOST_LIMITS_BODY": "10m"]) { hub in
            let request = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let body = #"{"aps":{"alert":"\#(ServedHub.unspeakable)"}}"#
            let busy = try WireConnection(port: hub.port)
            let head = "POST /hub/messages HTTP/1.1\r\nHost: localhost\r\nServiceBusNotification-Format: apple\r\nExpect: 100-continue\r\n"
            await busy.send(head + "Authorization: \(try hub.token(.full))\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
            #expect(await busy.hears("HTTP/1.1 100 Continue\r\n\r\n"))
            let first = try WireConnection(port: hub.port)
            await first.send(request)
            #expect(try await first.answer()?.status == 200)
            var others: [WireConnection] = []
            for _ in 0..<60 {
                let other = try WireConnection(port: hub.port)
                await other.send(request)
                #expect(try await other.answer()?.status == 200)
                others.append(other)
            }
            #expect(await first.rest().ending != .never)
            await busy.send(body)
            #expect(try await busy.answer()?.status == 201)
            #expect(try await isWell(hub))
        }
    }

    @Test func `if all connections are in use, a new one is refused until one is free`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LIMITS_CONNECTIONS": "3", "PUSHHOST_LIMITS_BODY": "10m"]) { hub in
            let body = #"{"aps":{"alert":"\#(ServedHub.unspeakable)"}}"#
            let head = "POST /hub/messages HTTP/1.1\r\nHost: localhost\r\nServiceBusNotification-Format: apple\r\nExpect: 100-continue\r\n"
            var busy: [WireConnection] = []
            for _ in 0..<3 {
                busy.append(try WireConnection(port: hub.port))
                await busy.last?.send(head + "Authorization: \(try hub.token(.full))\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
                #expect(await busy.last?.hears("HTTP/1.1 100 Continue\r\n\r\n") == true)
            }
            for port in [hub.port, hub.tlsPort, hub.port] {
                let refused = try WireConnection(port: port)
                #expect(await refused.rest().ending != .never)
            }
            for connection in busy {
                await connection.send(body)
                #expect(try await connection.answer()?.status == 201)
            }
            #expect(try await isWell(hub))
        }
    }

    @Test func `a client that pipelines requests and reads nothing is disconnected`() async throws {
        try await ServedHub.serving(settings: Self.short) { hub in
            let connection = try WireConnection(port: hub.port)
            let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let isCut = await connection.trickle(String(repeating: request, count: 1000))
            #expect(isCut)
            #expect(try await isWell(hub))
        }
    }

    @Test func `a slow but steady reader gets everything, however long it takes`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LIMITS_IDLE": "3s"]) { hub in
            let connection = try WireConnection(port: hub.port, buffer: 1 << 16)
            let request = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n"
            let (bytes, ending) = await connection.slowRest(
                after: String(repeating: request + "\r\n", count: 99) + request + "Connection: close\r\n\r\n")
            #expect(String(decoding: bytes, as: UTF8.self).ranges(of: "HTTP/1.1 200 ").count == 100)
            #expect(ending == .closed)
        }
    }

    @Test func `an HTTP/2 client that opens no window loses the response, and one that opens it slowly gets it`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LIMITS_IDLE": "3s"]) { hub in
            try await Self.python("windows.py", ["3", "\(hub.tlsPort)"])
        }
        try await ServedHub.serving(settings: ["PUSHHOST_LIMITS_ADDRESS_BYTES": "\(8 << 20)"]) { hub in
            try await Self.python("windows.py", ["\(hub.tlsPort)"])
        }
    }

    @Test func `very small HTTP/2 frames count with the memory that they take, and too many end the connection`() async throws {
        try await ServedHub.serving { hub in
            try await Self.python("frames.py", ["\(hub.tlsPort)", "\(hub.port)"])
            #expect(try await isWell(hub))
        }
    }

    @Test func `a client that reads none of its responses does not delay the server's shutdown`() async throws {
        var silent: WireConnection?
        try await ServedHub.serving(settings: ["PUSHHOST_LIMITS_IDLE": "2h"]) { hub in
            let connection = try WireConnection(port: hub.port)
            await connection.send(String(repeating: "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 300))
            #expect(try await isWell(hub))
            silent = connection
        }
        withExtendedLifetime(silent) {}
    }

    @Test func `a server without free descriptors waits until some are free`() async throws {
        try await ServedHub.serving(line: #"ulimit -n \#(Self.fewFiles); exec "$0" "$@""#) { hub in
            for _ in 0..<3 {
                // More connections than descriptors. The excess waits in the kernel's backlog.
                let many = try (0..<100).map { _ in try WireConnection(port: hub.port) }
                for connection in many { await connection.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n") }
                withExtendedLifetime(many) {}
            }
            #expect(try await isWell(hub))
        }
    }

    @Test func `TLS clients that never close do not block others or use up descriptors of the other port`() async throws {
        // With few descriptors a quarter of them is for connections.
        for (line, limit) in [(#"ulimit -n \#(Self.fewFiles); exec "$0" "$@""#, Self.fewFiles / 4), (#"exec "$0" "$@""#, 64)] {
            try await ServedHub.serving(
                settings: ["PUSHHOST_LIMITS_CONNECTIONS": "\(limit)", "PUSHHOST_LIMITS_HEAD": "10m"], line: line
            ) { hub in
                try await Self.python("idlers.py", ["\(hub.tlsPort)", "\(hub.port)", "\(limit)", "\(hub.processIdentifier)"])
                #expect(try await isWell(hub))
            }
        }
    }

    @Test func `a log that is not read delays no request and reports dropped lines`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LOG_LEVEL": "info"]) { hub in
            let request = "GET /\(String(repeating: "a", count: 280)) HTTP/1.1\r\nHost: localhost\r\n"
            for _ in 0..<40 {
                let connection = try WireConnection(port: hub.port)
                await connection.send(String(repeating: request + "\r\n", count: 99) + request + "Connection: close\r\n\r\n")
                let answers = String(decoding: await connection.rest().bytes, as: UTF8.self)
                #expect(answers.ranges(of: "HTTP/1.1 401 ").count == 100)
            }
            #expect(try await isWell(hub))
            try await hub.hear("log lines were dropped")
        }
    }

    @Test func `a log that cannot be written does not stop the server`() async throws {
        for errors in ["2>/dev/full", "2>&-"] {
            try await ServedHub.serving(settings: ["PUSHHOST_LOG_LEVEL": "info"], line: #"exec "$0" "$@" "# + errors) { hub in
                for _ in 0..<3 {
                    let answers = try await isWell(hub)
                    #expect(answers, "\(errors)")
                }
            }
        }
    }
}
