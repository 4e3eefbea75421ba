import Crypto
import Foundation
import HTTPTypes
import HostSupport
import Hummingbird
import PushModel
import Support
import Synchronization
import Testing

/// `pushhost apns channels` and sends to channels, with a stand-in for APNs that records its requests.
@Suite struct ChannelCommandTests {
    private static let channel = "dHN0LXNyY2gtY2hubA=="

    private final class Requests: Sendable {
        let all = Mutex<[String]>([])
    }

    /// Runs `work` with the address of the stand-in.
    private func withStandIn(_ requests: Requests, _ work: @escaping @Sendable (String) async throws -> Void) async throws {
        let credentials: JSON = [
            "apns": [
                "team_id": "TEAM123456", "key_id": "KEY1234567", "topic": "com.example.app",
                "private_key": .string(P256.Signing.PrivateKey().pemRepresentation),
            ]
        ]
        let (ports, told) = AsyncStream.makeStream(of: Int.self)
        let responder = CallbackResponder<BasicRequestContext> { request, _ in
            let body = try await request.body.collect(upTo: 10_000)
            let path = request.uri.path
            if path == "/credentials" {
                return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: credentials.text())))
            }
            let name = HTTPField.Name("apns-channel-id").flatMap { request.headers[$0] } ?? "-"
            requests.all.withLock { $0.append("\(request.method) \(path) \(name) \(String(buffer: body))") }
            guard path != "/1/apps/com.example.app/channels" || name != "YQ==" else {
                return Response(status: .badRequest, body: .init(byteBuffer: ByteBuffer(string: #"{"reason":"ChannelNotRegistered"}"#)))
            }
            var headers = HTTPFields()
            if request.method == .post, let field = HTTPField.Name("apns-channel-id") { headers[field] = Self.channel }
            let text =
                path.hasSuffix("all-channels") ? #"{"channels":["\#(Self.channel)"]}"# : #"{"message-storage-policy":1}"#
            return Response(
                status: request.method == .delete ? .noContent : path.hasPrefix("/1/") && request.method == .post ? .created : .ok,
                headers: headers, body: request.method == .get ? .init(byteBuffer: ByteBuffer(string: text)) : .init())
        }
        let application = Application(
            responder: responder, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in told.yield(channel.localAddress?.port ?? 0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            for await port in ports {
                try await work("http://127.0.0.1:\(port)")
                break
            }
            group.cancelAll()
        }
    }

    @Test func `Channels are created, shown, listed and deleted, and one request sends to a channel`() async throws {
        let requests = Requests()
        try await withStandIn(requests) { address in
            let folder = try ScriptFolder([
                "score.json": #"{"aps":{"timestamp":1767600000,"event":"update","content-state":{"score":1}}}"#
            ])
            let server = try Dialogue(
                ["serve", "--port", "0", "--tls-port", "none", "--data", "data", "--simulators", address], in: folder.url)
            try await server.hear("Press Ctrl-C to stop.")
            func run(_ line: String) async throws -> BuiltProgram { try await BuiltProgram.shell("$P \(line) --data data", in: folder.url) }
            let channel = Self.channel
            #expect(try await run("apns channels create --keep newest").output == "✓ channel \(channel) created\n")
            #expect(try await run("apns channels list").output == "\(channel)\n")
            let shown = try await run("apns channels show \(channel)").output
            #expect(shown.contains("channel \(channel)") && shown.contains("stores              newest"))
            #expect(try await run("apns channels delete \(channel)").output == "✓ channel \(channel) deleted\n")
            let refused = try await run("apns channels show YQ==")
            #expect(
                refused.status == 4 && refused.errors.contains("error[channel.refused]: APNs rejected the request: ChannelNotRegistered"),
                "\(refused)")
            let malformed = try await run("apns channels delete 'no id'")
            #expect(malformed.status == 4 && malformed.errors.contains("error[channel.refused]: invalid channel id \"no id\""))
            let sent = try await run("send --channel \(channel) --native apns score.json")
            #expect(sent.status == 0 && sent.output.contains("1 of 1 sent"), "\(sent)")
            for line in ["send Hello --channel \(channel)", "send --channel \(channel) --broadcast --native apns score.json"] {
                #expect(try await run(line).status == 2, "\(line)")
            }
            server.signal(SIGTERM)
            #expect(await server.end(closingInput: false).status == 0)
        }
        let channel = Self.channel
        #expect(
            requests.all.withLock { $0 } == [
                #"POST /1/apps/com.example.app/channels - {"message-storage-policy":1,"push-type":"LiveActivity"}"#,
                "GET /1/apps/com.example.app/all-channels - ", "GET /1/apps/com.example.app/channels \(channel) ",
                "DELETE /1/apps/com.example.app/channels \(channel) ", "GET /1/apps/com.example.app/channels YQ== ",
                "POST /4/broadcasts/apps/com.example.app \(channel) "
                    + #"{"aps":{"timestamp":1767600000,"event":"update","content-state":{"score":1}}}"#,
            ])
    }

    @Test func `If the settings lead APNs elsewhere, channels are created there too`() async throws {
        let bench = try await FanOut(devices: 1)
        func run(_ line: String) async throws -> BuiltProgram {
            try await BuiltProgram.shell("$P \(line) --data data", in: bench.folder.url)
        }
        let created = try await run("apns channels create --keep newest")
        let channel = try #require(created.output.split(separator: " ").dropFirst(2).first.map { String($0) }, "\(created)")
        #expect(try await run("apns channels list").output == "\(channel)\n")
        #expect(try await run("apns channels show \(channel)").output.contains("stores              newest"))
        #expect(try await run("apns channels delete \(channel)").output == "✓ channel \(channel) deleted\n")
        _ = await bench.simulator.end(SIGTERM)
        let unreachable = try await run("apns channels list")
        #expect(unreachable.status == 4 && unreachable.errors.contains("127.0.0.1:"), "\(unreachable)")
    }

    @Test func `Without an APNs credential a channel command is rejected, and without a key a request gets 403`() async throws {
        let folder = try ScriptFolder()
        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url)
        try await server.hear("Press Ctrl-C to stop.")
        let none = try await BuiltProgram.shell("$P apns channels list --data data", in: folder.url)
        #expect(none.status == 4 && none.errors.contains("error[channel.refused]: hub \"hub\" has no APNs credential"), "\(none)")
        let absent = try await BuiltProgram.shell("$P apns channels list --hub other --data data", in: folder.url)
        #expect(absent.errors.contains("unknown hub \"other\""))
        let port = try await BuiltProgram.shell(
            "curl -s --unix-socket data/pushhost.sock http://localhost/api/v1/server | grep -o '\"httpPort\": *[0-9]*' | grep -o '[0-9]*'",
            in: folder.url
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        let foreign = try await BuiltProgram.shell(
            "curl -s -o /dev/null -w '%{http_code}' -X POST -d '{}' http://127.0.0.1:\(port)/api/v1/apns/channels", in: folder.url)
        #expect(foreign.output == "403")
        server.signal(SIGTERM)
        _ = await server.end(closingInput: false)
    }
}
