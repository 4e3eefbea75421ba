import Foundation
import HostSupport
import PushModel
import Testing

/// `pushhost send` when it is interrupted.
@Suite struct SendCommandTests {
    private static let handle = String(repeating: "0123456789abcdef", count: 4)

    /// A server whose pushes cannot be delivered, so that they take a long time.
    private static func waiting(_ body: (ServedHub) async throws -> Void) async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_SIMULATORS": "http://127.0.0.1:1"]) { hub in
            let answer = try await hub.call(
                "PUT", "/hub/installations/i?api-version=2020-06",
                body: #"{"installationId": "i", "platform": "apns", "tags": ["a"], "pushChannel": "\#(handle)"}"#)
            #expect(answer.status == 200)
            try await body(hub)
        }
    }

    @Test func `Ctrl-C while waiting prints the accepted notification`() async throws {
        try await Self.waiting { hub in
            let file = hub.data.appending(path: "payload.json")
            try Data(#"{"aps": {"alert": "Goal"}}"#.utf8).write(to: file)
            let arguments = ["send", "--native", "apns", file.path, "--to", "a", "--data", hub.data.path]
            let send = try Dialogue(arguments, onTerminal: true)
            try await send.hear("0 of 0 sent", thenSignal: SIGINT)
            let end = await send.end()
            #expect(end.status == 130)
            let id = try #require(end.output.firstMatch(of: /accepted as (\S+)/)?.1, "\(end.output)")
            #expect(end.output.contains("see pushhost notification show \(id)"), "\(end.output)")
            #expect(try await hub.command(["notification", "show", String(id)]).status == 0)
        }
    }

    @Test func `If one payload is rejected, the error names the accepted notifications`() async throws {
        try await Self.waiting { hub in
            let (good, bad) = (hub.data.appending(path: "good.json"), hub.data.appending(path: "bad.json"))
            try Data(#"{"aps": {"alert": "Goal"}}"#.utf8).write(to: good)
            try Data("no JSON".utf8).write(to: bad)
            let send = try await hub.command(["send", "--native", "apns", good.path, "fcm", bad.path, "--to", "a", "--json"])
            #expect(send.status == 4)
            let error = try #require(try JSON(parsing: send.output)["error"])
            let id = try #require(error["accepted"]?.array?.first?.string)
            #expect(error["message"]?.string?.contains("accepted as \(id)") == true, "\(send.output)")
            #expect(try await hub.command(["notification", "show", id]).status == 0)
        }
    }

    @Test func `If the connection breaks before the response, the request is repeated with the same idempotency key`() async throws {
        let server = try BreakingServer()
        let requests = server.serve(
            answers: [
                nil, "HTTP/1.1 201 Created\r\nLocation: http://localhost/hub/schedulednotifications/7\r\nContent-Length: 0\r\n",
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 21\r\n",
            ], body: #"{"state":"Scheduled"}"#)
        let connection = "Endpoint=http://127.0.0.1:\(server.port)/;SharedAccessKeyName=a;SharedAccessKey=b;EntityPath=hub"
        let send = try await BuiltProgram.run(
            ["send", "Goal", "--to", "a", "--at", "1h"], environment: ["PUSHHOST_CONNECTION": connection])
        #expect(send.status == 0, "\(send.errors)")
        let keys = await requests.value.compactMap { $0.firstMatch(of: /(?i)idempotency-key: (\S+)/)?.1 }
        #expect(keys.count == 2 && keys.first == keys.last, "\(keys)")
    }
}

/// Answers one request on each connection, or closes it without a response.
private final class BreakingServer: Sendable {
    let port: Int
    private let socket: Int32

    init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // If the command has given up, no connection comes.
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, size) = (socket, length)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) | listen(descriptor, 8) | getsockname(descriptor, pointer, &length)
            }
        }
        try #require(status == 0)
        port = Int(address.sin_port.bigEndian)
    }

    deinit { close(socket) }

    /// The whole request must be read: closing a socket with unread data would lose the response.
    private static func isComplete(_ request: String) -> Bool {
        guard let end = request.firstRange(of: "\r\n\r\n") else { return false }
        let length = request.firstMatch(of: /(?i)content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
        return request[end.upperBound...].utf8.count >= length
    }

    /// Starts at once on its own thread and answers the requests. A response with a length gets the body.
    func serve(answers: [String?], body: String) -> Task<[String], Never> {
        let (stream, continuation) = AsyncStream.makeStream(of: [String].self)
        Thread.detachNewThread { [socket] in
            continuation.yield(
                answers.map { answer in
                    let connection = accept(socket, nil, nil)
                    // A child process of another test may have inherited the descriptor.
                    defer {
                        shutdown(connection, Int32(SHUT_RDWR))
                        close(connection)
                    }
                    var head = ""
                    var buffer = [UInt8](repeating: 0, count: 4096)
                    while !Self.isComplete(head), case let count = read(connection, &buffer, buffer.count), count > 0 {
                        head += String(decoding: buffer[..<count], as: UTF8.self)
                    }
                    if let answer {
                        let text = "\(answer)Connection: close\r\n\r\n" + (answer.contains("Length: 0") ? "" : body)
                        _ = send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL))
                    }
                    return head
                })
            continuation.finish()
        }
        return Task {
            for await requests in stream { return requests }
            return []
        }
    }
}
