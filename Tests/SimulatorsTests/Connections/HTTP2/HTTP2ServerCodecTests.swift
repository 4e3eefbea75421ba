import CNGHTTP2
import HTTPTypes
import NIOCore
import Testing

@testable import Simulators

/// The server side of HTTP/2 against a libnghttp2 client, with bytes split anywhere.
@Suite struct HTTP2ServerCodecTests {
    static let head = [(":method", "POST"), (":scheme", "https"), (":authority", "api.push.apple.com"), (":path", "/3/device/00")]

    /// A client and a server that exchange bytes in pieces of `size`.
    final class Line {
        let client: HTTP2Client
        let server: HTTP2ServerCodec
        var requests: [(stream: Int32, head: HTTPRequest, body: [UInt8])] = []
        var cancelled: [Int32] = []
        let size: Int

        init(limit: UInt32 = 100, limits: HTTP2Limits = HTTP2Limits(), size: Int = .max, trusting: UInt32 = 100) throws {
            client = try HTTP2Client(trusting: trusting)
            server = try HTTP2ServerCodec(streamLimit: limit, limits: limits)
            self.size = size
        }

        /// Exchanges bytes until neither side has more to send.
        func run() throws {
            while true {
                let up = client.takeBytes()
                try feed(up)
                var buffer = ByteBuffer()
                while try server.drain(into: &buffer, limit: 1 << 20) {}
                let down = Array(buffer.readableBytesView)
                for start in stride(from: 0, to: down.count, by: min(size, max(down.count, 1))) {
                    client.receive(Array(down[start...].prefix(size)))
                }
                if up.isEmpty, down.isEmpty { return }
            }
        }

        func feed(_ bytes: [UInt8]) throws {
            for start in stride(from: 0, to: bytes.count, by: min(size, max(bytes.count, 1))) {
                try bytes[start...].prefix(size).withUnsafeBytes { try server.receive($0) }
                for event in server.takeEvents() {
                    switch event {
                    case .request(let stream, let head, let body): requests.append((stream, head, body))
                    case .cancelled(let stream): cancelled.append(stream)
                    }
                }
            }
        }

        func respond(_ stream: Int32, _ status: Int = 200, body: String = "") {
            server.respond(to: stream, HTTPResponse(status: .init(code: status)), body: Array(body.utf8))
        }
    }

    @Test(arguments: [1, 2, 7, 100, Int.max])
    func `requests and answers arrive, however the bytes are split`(size: Int) throws {
        let line = try Line(size: size)
        let body = Array(repeating: UInt8(ascii: "x"), count: 20_000)
        var streams: [Int32] = []
        for number in 0..<5 {
            streams.append(line.client.request(Self.head + [("apns-id", "id-\(number)"), ("x-constant", "same")], body: body))
        }
        try line.run()
        // Their bodies share the flow-control window.
        line.requests.sort { $0.stream < $1.stream }
        #expect(line.requests.map(\.stream) == streams)
        #expect(line.requests.allSatisfy { $0.body == body })
        #expect(line.requests.map { $0.head.headerFields.first("apns-id") } == (0..<5).map { "id-\($0)" })
        #expect(line.requests.allSatisfy { $0.head.path == "/3/device/00" && $0.head.method == .post })
        for (stream, head, _) in line.requests.reversed() {
            var response = HTTPResponse(status: .badRequest)
            response.headerFields.add("apns-id", head.headerFields.first("apns-id") ?? "")
            line.server.respond(to: stream, response, body: Array(#"{"reason":"BadTopic"}"#.utf8))
        }
        try line.run()
        for (number, stream) in streams.enumerated() {
            let answer = try #require(line.client.answers[stream])
            #expect(answer.status == 400 && answer.text == #"{"reason":"BadTopic"}"# && answer.code == 0)
            #expect(answer.fields["apns-id"] == "id-\(number)")
        }
        #expect(line.server.openCount == 0)
    }

    @Test func `an answer larger than the client's window comes in parts`() throws {
        let line = try Line()
        let stream = line.client.request(Self.head)
        try line.run()
        let text = String(repeating: "0123456789", count: 20_000)
        line.respond(stream, body: text)
        try line.run()
        #expect(line.client.answers[stream]?.text == text)
    }

    @Test func `the settings are those of APNs`() throws {
        let line = try Line(limit: 1)
        try line.run()
        #expect(line.client.settings == [1: 4096, 3: 1, 4: 65_535, 5: 16_384, 6: 8000])
    }

    @Test func `streams beyond the limit are refused, even if the client cannot know the limit yet`() throws {
        let line = try Line(limit: 2)
        let streams = (0..<5).map { _ in line.client.request(Self.head) }
        try line.run()
        #expect(line.requests.map(\.stream) == Array(streams[..<2]))
        for stream in streams[2...] {
            #expect(line.client.answers[stream]?.code == NGHTTP2_REFUSED_STREAM.rawValue)
        }
        #expect(line.server.refusals == 3)
        for stream in streams[..<2] { line.respond(stream) }
        try line.run()
        #expect(streams[..<2].allSatisfy { line.client.answers[$0]?.status == 200 })
        // The connection still works.
        let next = line.client.request(Self.head)
        try line.run()
        line.respond(next)
        try line.run()
        #expect(line.client.answers[next]?.status == 200)
    }

    @Test func `a new limit is announced and applies immediately, and open streams stay`() throws {
        let line = try Line(limit: 1)
        try line.run()
        line.server.setStreamLimit(4)
        line.server.setStreamLimit(4)
        try line.run()
        let streams = (0..<3).map { _ in line.client.request(Self.head) }
        try line.run()
        #expect(line.requests.count == 3)
        line.server.setStreamLimit(1)
        // The request was in transit when the limit was lowered.
        let late = line.client.request(Self.head)
        try line.feed(line.client.takeBytes())
        try line.run()
        #expect(line.client.answers[late]?.code == NGHTTP2_REFUSED_STREAM.rawValue)
        for stream in streams { line.respond(stream) }
        try line.run()
        #expect(streams.allSatisfy { line.client.answers[$0]?.status == 200 })
        #expect(line.client.limits == [1, 4, 1])
    }

    @Test func `GOAWAY names the last request and the reason, and open requests are still answered`() throws {
        let line = try Line()
        let open = line.client.request(Self.head)
        try line.run()
        line.server.goAway(debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        let late = line.client.request(Self.head)
        try line.feed(line.client.takeBytes())
        try line.run()
        #expect(line.client.goAways.map(\.last) == [open])
        #expect(line.client.goAways.map(\.debug) == [#"{"reason":"Shutdown"}"#])
        #expect(!line.server.isFinished)
        line.respond(open)
        try line.run()
        #expect(line.client.answers[open]?.status == 200)
        #expect(line.client.answers[late]?.status ?? 0 == 0)
        #expect(line.server.isFinished)
    }

    @Test func `GOAWAY can be sent after the last byte of an answer`() throws {
        let line = try Line()
        let stream = line.client.request(Self.head)
        try line.run()
        line.respond(stream, 503, body: String(repeating: "x", count: 100_000))
        line.server.goAway(after: stream, debugData: [])
        var seen: [Bool] = []
        while line.client.answers[stream]?.code == nil {
            var buffer = ByteBuffer()
            _ = try line.server.drain(into: &buffer, limit: 1)
            line.client.receive(Array(buffer.readableBytesView))
            if line.client.answers[stream]?.code == nil { seen.append(line.client.goAways.isEmpty) }
            try line.feed(line.client.takeBytes())
        }
        #expect(seen.count > 3 && seen.allSatisfy { $0 })
        try line.run()
        #expect(line.client.goAways.map(\.last) == [stream])
        #expect(line.server.isFinished)
    }

    @Test func `a client that is answered early may send its body to the end`() throws {
        let line = try Line()
        let stream = line.client.request(Self.head, body: Array(repeating: 1, count: 1_000_000))
        // The bytes that fit into the initial windows.
        try line.feed(line.client.takeBytes())
        #expect(line.requests.isEmpty)
        try line.run()
        #expect(line.requests.count == 1)
        #expect(line.requests[0].body.count < 100_000)
        line.respond(stream, 413, body: "too long")
        try line.run()
        let answer = try #require(line.client.answers[stream])
        #expect(answer.status == 413 && answer.text == "too long" && answer.code == 0)
        #expect(line.client.sent == 1_000_000)
        #expect(line.server.openCount == 0)
    }

    @Test func `the answer to HEAD has no body`() throws {
        let line = try Line()
        let stream = line.client.request([(":method", "HEAD")] + Self.head.dropFirst())
        try line.run()
        line.respond(stream, 405, body: #"{"reason":"MethodNotAllowed"}"#)
        try line.run()
        let answer = try #require(line.client.answers[stream])
        #expect(answer.status == 405 && answer.body.isEmpty && answer.code == 0)
    }

    @Test func `a body that is too long is delivered truncated, and one that continues for too long is ended`() throws {
        var limits = HTTP2Limits()
        limits.largestBody = 1000
        limits.maximumDiscardedBody = 2000
        let line = try Line(limits: limits)
        let stream = line.client.request(Self.head, body: Array(repeating: 1, count: 40_000), end: false)
        try line.run()
        #expect(line.requests.count == 1)
        #expect((1001...16_384).contains(line.requests[0].body.count))
        line.respond(stream, 413, body: "too long")
        try line.run()
        let answer = try #require(line.client.answers[stream])
        #expect(answer.status == 413 && answer.text == "too long" && answer.code == NGHTTP2_NO_ERROR.rawValue)
        #expect(line.server.openCount == 0)
    }

    @Test func `a header list that is too long is answered with 431 and not delivered`() throws {
        let line = try Line()
        let stream = line.client.request(Self.head + [("x-long", String(repeating: "x", count: 8000))])
        let next = line.client.request(Self.head)
        try line.run()
        #expect(line.client.answers[stream]?.status == 431)
        #expect(line.requests.map(\.stream) == [next])
    }

    @Test func `a client that keeps opening and cancelling streams is disconnected`() throws {
        var limits = HTTP2Limits()
        limits.resetAllowance = 10
        let line = try Line(limits: limits)
        for number in 0..<12 {
            let stream = line.client.request(Self.head, body: [1], end: false)
            try line.run()
            line.client.cancel(stream)
            try line.run()
            if number < 10 { #expect(line.client.goAways.isEmpty) }
        }
        #expect(line.client.goAways.map(\.code).first == NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
        #expect(line.server.isFinished)
    }

    @Test func `a cancelled request is reported, unless it was answered`() throws {
        let line = try Line()
        let streams = (0..<2).map { _ in line.client.request(Self.head) }
        try line.run()
        line.respond(streams[0])
        line.client.cancel(streams[1])
        try line.run()
        #expect(line.cancelled == [streams[1]])
        line.respond(streams[1])
        try line.run()
        #expect(line.client.answers[streams[1]]?.status == 0)
    }

    @Test func `a request without :authority uses its host field`() throws {
        let line = try Line()
        line.client.request([(":method", "GET"), (":scheme", "https"), (":path", "/"), ("host", "localhost:1")])
        try line.run()
        #expect(line.requests.first?.head.authority == "localhost:1")
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8])
    func `random bytes end in an error or a GOAWAY, never in a request`(seed: UInt64) throws {
        var state = seed
        func draw() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        // The preface is valid, so that the frames are read.
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
        for _ in 0..<200 {
            let line = try Line(size: 13)
            let noise = (0..<200).map { _ in draw() }
            do {
                try line.feed(preface + noise)
                var buffer = ByteBuffer()
                while try line.server.drain(into: &buffer, limit: 1 << 20) {}
            } catch let error as HTTP2Failure {
                #expect(error.code < 0)
            }
            #expect(line.requests.isEmpty)
        }
    }

    @Test func `a client of another protocol is refused`() throws {
        let line = try Line()
        #expect(throws: HTTP2Failure(code: Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue))) {
            try line.feed(Array("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8))
        }
    }
}
