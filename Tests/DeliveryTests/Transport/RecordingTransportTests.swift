import Delivery
import HTTPTypes
import PushModel
import Testing

@Suite("Recording of the wire")
struct RecordingTransportTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func everything(_ exchanges: [WireExchange]) -> String {
        exchanges.map { exchange in
            let headers = (exchange.request.headers + exchange.response.headers).map { "\($0.name): \($0.value)" }
            return headers.joined(separator: "\n") + exchange.request.path
                + String(decoding: exchange.request.body + exchange.response.body, as: UTF8.self)
        }.joined(separator: "\n")
    }

    @Test("An exchange is recorded byte for byte, with the bearer token masked")
    func push() async throws {
        let inner = ScriptedTransport([.answer(400, ["apns-id": "x"], #"{"reason":"BadPriority"}"#)])
        let record = RecordingTransport(inner, service: .apns, clock: clock)
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: record, clock: clock)
        _ = await connector.deliver(.apns())
        let exchange = try #require(record.exchanges(with: .apns).first)
        #expect(exchange.time == Accounts.start)
        #expect(exchange.request.method == "POST")
        #expect(exchange.request.authority == "api.push.apple.com")
        #expect(exchange.request.path == "/3/device/00fc13adff78")
        #expect(exchange.request.headers.first == PushHeader("Authorization", "bearer ***"))
        #expect(exchange.request.headers.count == 5)
        #expect(exchange.request.body == Array(#"{"aps":{"alert":"Hi"}}"#.utf8))
        #expect(exchange.response.status == 400)
        #expect(exchange.response.headers == [PushHeader("apns-id", "x")])
        #expect(exchange.response.body == Array(#"{"reason":"BadPriority"}"#.utf8))
        #expect(record.exchanges(with: .wns).isEmpty)
    }

    @Test("No credential of WNS is anywhere in the record")
    func clientSecret() async throws {
        let inner = ScriptedTransport([])
        let record = RecordingTransport(inner, service: .wns, clock: clock)
        let connector = try WNSConnector(settings: Accounts.wns, transport: record, clock: clock)
        _ = await connector.deliver(.wns())
        let all = record.exchanges(with: nil)
        #expect(all.count == 2)
        #expect(
            String(decoding: all[0].request.body, as: UTF8.self)
                == "grant_type=client_credentials&client_id=ms-app%3A%2F%2Fs-1-15-2-1234&client_secret=***"
                + "&scope=notify.windows.com")
        #expect(
            String(decoding: all[0].response.body, as: UTF8.self)
                == #"{"access_token":"***","expires_in":3599,"token_type":"Bearer"}"#)
        let text = everything(all)
        for secret in ["very secret", "very+secret", "ya29"] { #expect(!text.contains(secret)) }
    }

    @Test("No assertion of FCM is anywhere in the record, not even where the service echoes it")
    func assertion() async throws {
        let echo = EchoTransport()
        let record = RecordingTransport(echo, service: .fcmV1, clock: clock)
        let connector = try FCMConnector(settings: Accounts.fcm, transport: record, clock: clock)
        _ = await connector.deliver(.fcm())
        let all = record.exchanges(with: nil)
        let sent = String(decoding: all[0].request.body, as: UTF8.self)
        #expect(sent == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=***")
        // Every JWT begins with the base64url of `{"`.
        #expect(!everything(all).contains("eyJ"))
        #expect(String(decoding: all[0].response.body, as: UTF8.self).contains("***"))
    }

    @Test("The token of a VAPID header is masked, its public key is not, and an echo of the token is")
    func vapid() async throws {
        let answer = #"{"message":"bad token eyJ0.eyJ1.c2lnbg"}"#
        for (header, shown) in [
            ("vapid t=eyJ0.eyJ1.c2lnbg, k=BPub_lic-key", "vapid t=***, k=BPub_lic-key"),
            ("Vapid k=BPub_lic-key,t=eyJ0.eyJ1.c2lnbg", "Vapid k=BPub_lic-key, t=***"),
            ("vapid eyJ0.eyJ1.c2lnbg", "vapid ***"), ("WebPush eyJ0.eyJ1.c2lnbg", "WebPush ***"),
        ] {
            let record = RecordingTransport(
                ScriptedTransport([.answer(401, [:], answer)]), service: .browser, clock: clock)
            var request = HTTPRequest(method: .post, scheme: "https", authority: "a", path: "/")
            request.headerFields[.authorization] = header
            _ = try await record.exchange(request, body: [0, 0xff])
            let exchange = try #require(record.exchanges(with: .browser).first)
            #expect(exchange.request.headers == [PushHeader("Authorization", shown)])
            #expect(!everything([exchange]).contains("c2lnbg"))
            #expect(exchange.request.body == [0, 0xff])
        }
    }

    @Test(
        "A token is masked in answers of every shape",
        arguments: [
            #"{ "access_token" : "secret-token-1" }"#, #"{"a":[{"access_token":"secret-token-1"#,
            #"{"x":"\"","access_token":"secret-token-1","y":1}"#, #"<html>"access_token":"secret-token-1"</html>"#,
        ])
    func answerShapes(text: String) async throws {
        let record = RecordingTransport(ScriptedTransport([.answer(200, [:], text)]), service: .wns, clock: clock)
        _ = try await record.exchange(HTTPRequest(method: .post, scheme: nil, authority: nil, path: nil), body: [])
        #expect(!everything(record.exchanges(with: nil)).contains("secret-token-1"))
    }

    @Test("An exchange without an answer has status 0")
    func failure() async throws {
        let record = RecordingTransport(
            ScriptedTransport([.fail(.unknown("reset"))]), service: .wns, clock: clock)
        await #expect(throws: TransportError.unknown("reset")) {
            try await record.exchange(HTTPRequest(method: .post, scheme: nil, authority: "a", path: "/"), body: [])
        }
        #expect(record.exchanges(with: nil).map(\.response.status) == [0])
    }

    @Test("Only the last exchanges are stored, oldest first, each with its service")
    func capacity() async throws {
        let record = RecordingTransport(ScriptedTransport([]), clock: clock, capacity: 3) { request in
            request.authority == "apple" ? .apns : .fcmV1
        }
        for index in 0..<7 {
            _ = try await record.exchange(
                HTTPRequest(
                    method: .post, scheme: "https", authority: index.isMultiple(of: 2) ? "apple" : "google",
                    path: "/\(index)"), body: [])
        }
        #expect(record.exchanges(with: nil).map(\.request.path) == ["/4", "/5", "/6"])
        #expect(record.exchanges(with: .apns).map(\.request.path) == ["/4", "/6"])
        #expect(record.exchanges(with: .fcmV1).map(\.request.path) == ["/5"])
    }
}

/// Answers with the request it received, as a careless service might.
private struct EchoTransport: PushTransport {
    func destination(of authority: String) -> String { authority }

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        PushResponse(status: .badRequest, body: Array(#"{"error_description":""#.utf8) + body + Array("\"}".utf8))
    }
}
