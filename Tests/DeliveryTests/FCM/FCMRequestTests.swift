import Delivery
import HTTPTypes
import PushModel
import Testing

@Suite("Requests to FCM")
struct FCMRequestTests {
    private func push(_ batch: DeliveryBatch) async throws -> ScriptedTransport.Exchange {
        let transport = ScriptedTransport([])
        let connector = try FCMConnector(
            settings: Accounts.fcm, transport: transport, clock: VirtualClock(now: Accounts.start))
        _ = await connector.deliver(batch)
        return try #require(transport.pushes.first)
    }

    @Test("A message has this method, path and these headers")
    func envelope() async throws {
        let push = try await push(.fcm())
        #expect(push.request.method == .post)
        #expect(push.request.scheme == "https")
        #expect(push.request.authority == "fcm.googleapis.com")
        #expect(push.request.path == "/v1/projects/demo-project/messages:send")
        #expect(
            push.headers.sorted() == [
                "Authorization: Bearer ya29.the-access-token", "Content-Type: application/json",
            ])
    }

    @Test(
        "A v1 message gets the token and is otherwise unchanged",
        arguments: [
            (#"{"message":{"data":{"b":"1","a":"2"}}}"#, #"{"message":{"token":"tok:1","data":{"b":"1","a":"2"}}}"#),
            (#"{"message":{}}"#, #"{"message":{"token":"tok:1"}}"#),
            (
                #"{"message":{"apns":{"payload":{"price":12.50,"n":1e3,"big":12345678901234567890}}}}"#,
                #"{"message":{"token":"tok:1","apns":{"payload":{"price":12.50,"n":1e3,"big":12345678901234567890}}}}"#
            ),
            (
                #"{"message":{"topic":"news","data":{"a":"1"},"token":"theirs"},"validate_only":true}"#,
                #"{"message":{"token":"tok:1","data":{"a":"1"}},"validate_only":true}"#
            ),
            (
                #"{"message":{"notification":{"title":"T"},"android":{"priority":"high","ttl":"5s"}}}"#,
                #"{"message":{"token":"tok:1","notification":{"title":"T"},"android":{"priority":"high","ttl":"5s"}}}"#
            ),
        ])
    func native(body: String, sent: String) async throws {
        #expect(try await push(.fcm(body)).text == sent)
    }

    @Test(
        "A legacy body is converted to a v1 message",
        arguments: [
            (#"{"data":{"msg":"Hello"}}"#, #"{"message":{"token":"tok:1","data":{"msg":"Hello"}}}"#),
            (
                #"{"data":{"n":1,"f":1.5,"t":true,"z":null,"o":{"a":[1]},"s":"x"}}"#,
                #"{"message":{"token":"tok:1","data":{"n":"1","f":"1.5","t":"true","z":"null","o":"{\"a\":[1]}","s":"x"}}}"#
            ),
            (
                #"{"notification":{"title":"T","body":"B","image":"I","icon":"i","sound":"default","tag":"t"}}"#,
                #"{"message":{"token":"tok:1","notification":{"title":"T","body":"B","image":"I"},"#
                    + #""android":{"notification":{"icon":"i","sound":"default","tag":"t"}}}}"#
            ),
            (
                #"{"notification":{"android_channel_id":"c","body_loc_key":"k","body_loc_args":"[\"a\",\"b\"]","badge":"3"}}"#,
                #"{"message":{"token":"tok:1","android":{"notification":{"channel_id":"c","body_loc_key":"k","#
                    + #""body_loc_args":["a","b"]}},"apns":{"payload":{"aps":{"badge":3}}}}}"#
            ),
            (
                #"{"collapse_key":"k","time_to_live":60,"priority":"high","restricted_package_name":"p","data":{}}"#,
                #"{"message":{"token":"tok:1","data":{},"android":{"collapse_key":"k","priority":"HIGH","ttl":"60s","#
                    + #""restricted_package_name":"p"}}}"#
            ),
            (
                #"{"content_available":true,"mutable_content":true,"delay_while_idle":true,"dry_run":true}"#,
                #"{"message":{"token":"tok:1","apns":{"payload":{"aps":{"content-available":1,"mutable-content":1}}}},"#
                    + #""validate_only":true}"#
            ),
            (
                #"{"to":"x","registration_ids":["y"],"data":{"a":"b"},"content_available":false,"dry_run":false}"#,
                #"{"message":{"token":"tok:1","data":{"a":"b"}}}"#
            ),
            (#"{"message":{"data":{"a":"b"}}}"#, #"{"message":{"token":"tok:1","data":{"a":"b"}}}"#),
        ])
    func legacy(body: String, sent: String) async throws {
        #expect(try await push(.gcm(body)).text == sent)
    }

    @Test(
        "The sender's options apply where the message has no value",
        arguments: [
            (
                #"{"message":{}}"#,
                #"{"message":{"token":"tok:1","android":{"ttl":"90s","priority":"HIGH","collapse_key":"score"}}}"#
            ),
            (
                #"{"message":{"android":{"ttl":"5s","priority":"NORMAL","collapse_key":"mine"}}}"#,
                #"{"message":{"token":"tok:1","android":{"ttl":"5s","priority":"NORMAL","collapse_key":"mine"}}}"#
            ),
        ])
    func options(body: String, sent: String) async throws {
        let options = PushOptions(expiration: Accounts.start + .seconds(90), priority: .high, collapseID: "score")
        #expect(try await push(.fcm(body, options: options)).text == sent)
    }

    @Test(
        "An expiration is sent as a TTL from zero to four weeks",
        arguments: [
            (Timestamp.distantFuture, "2419200s"), (Timestamp(seconds: 0), "0s"),
        ])
    func lifetime(expiration: Timestamp, ttl: String) async throws {
        let push = try await push(.fcm(#"{"message":{}}"#, options: PushOptions(expiration: expiration)))
        #expect(push.text == #"{"message":{"token":"tok:1","android":{"ttl":"\#(ttl)"}}}"#)
    }

    @Test("A token cannot inject JSON")
    func hostileToken() async throws {
        let push = try await push(.fcm(tokens: [#"a","topic":"all"#]))
        #expect(try JSON(parsing: push.body)["message"]?["token"]?.string == #"a","topic":"all"#)
    }

    @Test(
        "A body that is not a message is rejected before anything is sent",
        arguments: [
            "", "text", "[]", #"{"data":{"a":"b"}}"#, #"{"message":"x"}"#,
        ])
    func malformed(body: String) async throws {
        let transport = ScriptedTransport([])
        let connector = try FCMConnector(
            settings: Accounts.fcm, transport: transport, clock: VirtualClock(now: Accounts.start))
        let verdicts = await connector.deliver(.fcm(body, tokens: ["a", "b"]))
        #expect(verdicts.map { $0.rejection?.outcome } == [.pnsInterfaceError, .pnsInterfaceError])
        #expect(transport.all.isEmpty)
    }

    @Test("A message over the limit is rejected before anything is sent")
    func tooLarge() async throws {
        let transport = ScriptedTransport([])
        let connector = try FCMConnector(
            settings: Accounts.fcm, transport: transport, clock: VirtualClock(now: Accounts.start))
        let body = #"{"message":{"data":{"a":"\#(String(repeating: "x", count: 4096))"}}}"#
        let rejection = try #require(await connector.deliver(.fcm(body)).first?.rejection)
        #expect(rejection.outcome == .invalidNotificationSize)
        #expect(rejection.explanation.contains("4113 bytes"))
        #expect(rejection.explanation.contains("4096"))
        #expect(transport.all.isEmpty)
    }
}
