import Delivery
import Foundation
import HTTPTypes
import HostSupport
import PushModel
import PushRuntime
import Synchronization
import Testing

/// `pushhost simulate` in its own process, with senders that reach it over the network.
final class SimulatorBench: Sendable {
    let dialogue: Dialogue
    let port: Int
    let transport: HTTPClientTransport
    /// The token that all connectors share, as APNs requires.
    private let providerToken = Mutex<APNsProviderToken?>(nil)

    init(_ arguments: [String] = [], in folder: URL = BuiltProgram.root) async throws {
        dialogue = try Dialogue(["simulate", "--port", "none", "--control-port", "0"] + arguments, in: folder)
        try await dialogue.hear("on http://127.0.0.1:")
        port = try #require(Int(try await dialogue.hear(",").dropLast()))
        try await dialogue.hear("Press Ctrl-C to stop.")
        transport = HTTPClientTransport(
            route: WebAddress("http://127.0.0.1:\(port)"), limits: .init(connect: .seconds(300), exchange: .seconds(300)))
    }

    /// Ends the simulator with Ctrl-C or another signal. Returns the exit code and the last output.
    func end(_ signal: Int32 = SIGINT) async -> (output: String, status: Int32) {
        await transport.shutdown()
        dialogue.signal(signal)
        return await dialogue.end(closingInput: false)
    }

    /// Sends a request to the control plane. Returns the status and the text.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", host: String? = nil
    ) async throws -> (status: Int, text: String) {
        let request = HTTPRequest(method: method, scheme: "http", authority: host ?? "127.0.0.1:\(port)", path: path)
        let response = try await transport.exchange(request, body: Array(body.utf8))
        return (response.status.code, String(decoding: response.body, as: UTF8.self))
    }

    func get(_ path: String) async throws -> JSON { try JSON(parsing: try await call(.get, path).text) }

    /// Adds a phone and returns its handle.
    func phone(_ name: String, _ platform: Platform) async throws -> DeviceHandle {
        let body = #"{"name": "\#(name)", "platform": "\#(Self.word(platform))"}"#
        let phone = try JSON(parsing: try await call(.post, "/phones", body).text)
        return try DeviceHandle(platform: platform, text: try #require(phone["handle"]?.string))
    }

    func inbox(_ name: String) async throws -> [JSON] { try #require(try await get("/phones/\(name)")["inbox"]?.array) }

    func ledger(_ query: String = "") async throws -> [JSON] {
        try await call(.get, "/ledger\(query)").text.split(separator: "\n").map { try JSON(parsing: String($0)) }
    }

    /// A sender for one platform with the credentials that an operator would use.
    func connector(_ platform: Platform) async throws -> any Connector {
        let credentials = try #require(try await get("/credentials")[Self.word(platform)])
        func text(_ name: String) throws -> String { try #require(credentials[name]?.string) }
        let (clock, random) = (SystemClock(), SystemRandom())
        switch platform {
        case .apns:
            let settings = APNsSettings(
                teamID: try text("team_id"), keyID: try text("key_id"), privateKey: Secret(try text("private_key")),
                topic: try text("topic"))
            let token = try providerToken.withLock { token in
                let made = try token ?? APNsProviderToken(settings: settings, clock: clock)
                token = made
                return made
            }
            return try APNsConnector(settings: settings, transport: transport, clock: clock, token: token)
        case .fcmV1:
            return try FCMConnector(
                settings: FCMSettings(serviceAccount: Array(credentials.text().utf8)), transport: transport, clock: clock)
        case .wns:
            return try WNSConnector(
                settings: WNSSettings(packageSID: text("package_sid"), clientSecret: Secret(text("client_secret"))),
                transport: transport, clock: clock)
        default:
            return try WebPushConnector(
                settings: WebPushSettings(
                    subject: text("subject"), publicKey: text("public_key"), privateKey: Secret(text("private_key"))),
                transport: transport, clock: clock, random: random)
        }
    }

    /// Sends "Hello" to one device.
    func send(to handle: DeviceHandle) async throws -> Verdict {
        let body =
            switch handle.platform {
            case .apns: #"{"aps":{"alert":"Hello"}}"#
            case .fcmV1: #"{"message":{"notification":{"body":"Hello"}}}"#
            case .wns: #"<toast><visual><binding template="ToastText01"><text id="1">Hello</text></binding></visual></toast>"#
            default: #"{"title":"Hello"}"#
            }
        let batch = DeliveryBatch(notificationID: "n1", platform: handle.platform, body: Array(body.utf8), handles: [handle])
        return try #require(try await connector(handle.platform).deliver(batch).first)
    }

    static func word(_ platform: Platform) -> String {
        switch platform {
        case .apns: "apns"
        case .fcmV1: "fcm"
        case .wns: "wns"
        default: "browser"
        }
    }
}
