import HTTPTypes
import Simulators
import Testing

@Suite("FCM checks the message")
struct FCMSimulatorSendTests {
    let bench = FCMBench()
    static let fieldFault = "400 INVALID_ARGUMENT fcm:INVALID_ARGUMENT field"
    static let schemaFault = "400 INVALID_ARGUMENT field"

    @Test("A valid message is accepted, gets a name and is shown")
    func valid() async throws {
        let reply = try await bench.send()
        #expect(reply.status == 200)
        #expect(reply.member("name")?.hasPrefix("projects/example-project/messages/0:") == true)
        #expect(bench.lab.inbox(of: bench.phone).map(\.text) == ["News\nHello"])
    }

    @Test("A message with validate_only gets a name and is not delivered")
    func validateOnly() async throws {
        let reply = try await bench.send(around: #","validate_only":true"#)
        #expect(reply.member("name") == "projects/example-project/messages/fake_message_id")
        #expect(bench.lab.inbox(of: bench.phone).isEmpty)
        #expect(try await bench.send(around: #","validate_only":"yes""#).kind == Self.schemaFault)
    }

    @Test("A missing, unknown or expired access token is 401 without an FcmError")
    func accessToken() async throws {
        #expect(try await bench.send { $0.set("authorization", nil) }.kind == "401 UNAUTHENTICATED")
        #expect(try await bench.send { $0.set("authorization", "Bearer ya29.x") }.kind == "401 UNAUTHENTICATED")
        let token = try await bench.accessToken()
        bench.time.advance(seconds: 3598)
        #expect(try await bench.send { $0.set("authorization", "Bearer \(token)") }.kind == "200")
        bench.time.advance(seconds: 1)
        #expect(try await bench.send { $0.set("authorization", "Bearer \(token)") }.kind == "401 UNAUTHENTICATED")
    }

    @Test("An access token for something else is 403 without an FcmError")
    func scope() async throws {
        let grant = await bench.grant(try bench.assertion(scope: "https://www.googleapis.com/auth/drive"))
        let token = try #require(grant.member("access_token"))
        #expect(try await bench.send { $0.set("authorization", "Bearer \(token)") }.kind == "403 PERMISSION_DENIED")
    }

    @Test("Another project or path is 404 without an FcmError")
    func path() async throws {
        #expect(
            try await bench.send { $0.path = "/v1/projects/other/messages:send" }.kind == "404 NOT_FOUND")
        #expect(try await bench.send { $0.method = .get }.kind == "404 NOT_FOUND")
    }

    @Test(
        "The body must be a message in JSON",
        arguments: ["", "{", #"{"message":[]}"#, #"{"message":{},"more":1}"#])
    func json(body: String) async throws {
        #expect(try await bench.send(body: body).kind == Self.schemaFault)
    }

    @Test("A recipient is required")
    func noTarget() async throws {
        #expect(try await bench.send(target: "").kind == Self.fieldFault)
        #expect(try await bench.send(body: "{}").kind == Self.fieldFault)
    }

    @Test("Only one recipient is allowed")
    func twoTargets() async throws {
        let target = #""token":"\#(bench.handle)","topic":"news""#
        #expect(try await bench.send(target: target).kind == Self.schemaFault)
    }

    @Test("The error for a malformed token names the token, not a field")
    func malformedToken() async throws {
        let reply = try await bench.send(target: #""token":"abc""#)
        #expect(reply.kind == "400 INVALID_ARGUMENT fcm:INVALID_ARGUMENT")
        #expect(reply.text.contains("registration token"))
    }

    @Test("The error for an invalid or unknown token is UNREGISTERED")
    func unregistered() async throws {
        let old = bench.handle
        bench.lab.rotateToken(of: bench.phone)
        #expect(
            try await bench.send(target: #""token":"\#(old)""#).kind == "404 NOT_FOUND fcm:UNREGISTERED")
        let unknown = String(bench.handle.dropLast()) + (bench.handle.hasSuffix("A") ? "B" : "A")
        #expect(
            try await bench.send(target: #""token":"\#(unknown)""#).kind == "404 NOT_FOUND fcm:UNREGISTERED")
        #expect(try await bench.send().kind == "200")
    }

    @Test("A token of another project is a sender mismatch")
    func senderMismatch() async throws {
        let phone = bench.lab.addPhone(
            PhoneDescription(name: "eve", platform: .fcm, app: PhoneApp("com.example.news", project: "other-project")))
        let handle = bench.lab.pushHandle(of: phone) ?? ""
        #expect(
            try await bench.send(target: #""token":"\#(handle)""#).kind
                == "403 PERMISSION_DENIED fcm:SENDER_ID_MISMATCH")
    }

    @Test("Data is a flat map of strings", arguments: ["1", "true", "{}", "[]", "null"])
    func flatData(value: String) async throws {
        #expect(try await bench.send(#""data":{"a":\#(value)}"#).kind == Self.schemaFault)
    }

    @Test("Some data names are reserved for Google", arguments: ["from", "message_type", "google.x", "gcm.y"])
    func reservedNames(name: String) async throws {
        #expect(try await bench.send(#""data":{"\#(name)":"x"}"#).kind == Self.fieldFault)
    }

    @Test(
        "Unknown fields are rejected",
        arguments: [
            #""alert":"x""#, #""notification":{"text":"x"}"#, #""android":{"time_to_live":3}"#,
            #""android":{"notification":{"text":"x"}}"#, #""apns":{"aps":{}}"#,
        ])
    func unknownFields(fields: String) async throws {
        #expect(try await bench.send(fields).kind == Self.schemaFault)
    }

    @Test(
        "Fields must have their type",
        arguments: [
            #""notification":{"title":1}"#, #""android":{"collapse_key":1}"#, #""android":{"priority":"URGENT"}"#,
            #""android":{"notification":{"tag":1}}"#, #""apns":{"headers":{"apns-priority":5}}"#,
            #""apns":{"payload":"x"}"#, #""webpush":{"data":{"a":1}}"#, #""data":"x""#,
        ])
    func types(fields: String) async throws {
        #expect(try await bench.send(fields).kind == Self.schemaFault)
    }

    @Test("The priority is case-insensitive", arguments: ["HIGH", "high", "NORMAL", "normal"])
    func priority(text: String) async throws {
        #expect(try await bench.send(#""android":{"priority":"\#(text)"}"#).kind == "200")
    }

    @Test("The ttl is a string in seconds", arguments: ["3600", #""3600""#, #""1h""#, #""s""#, #""1.2.3s""#, #""+1s""#])
    func malformedTTL(ttl: String) async throws {
        #expect(try await bench.send(#""android":{"ttl":\#(ttl)}"#).kind == Self.schemaFault)
    }

    @Test("The ttl is from zero to four weeks")
    func rangeOfTTL() async throws {
        #expect(try await bench.send(#""android":{"ttl":"2419200s"}"#).kind == "200")
        #expect(try await bench.send(#""android":{"ttl":"3.5s"}"#).kind == "200")
        #expect(try await bench.send(#""android":{"ttl":"2419201s"}"#).kind == Self.fieldFault)
        #expect(try await bench.send(#""android":{"ttl":"-1s"}"#).kind == Self.fieldFault)
    }

    @Test("A message has at most 4096 bytes, 2048 for topics")
    func size() async throws {
        func data(_ size: Int) -> String { #""data":{"k":"\#(String(repeating: "x", count: size - 1))"}"# }
        #expect(try await bench.send(data(4096)).kind == "200")
        #expect(try await bench.send(data(4097)).kind == Self.fieldFault)
        #expect(try await bench.send(data(2048), target: #""topic":"news""#).kind == "200")
        #expect(try await bench.send(data(2049), target: #""topic":"news""#).kind == Self.fieldFault)
    }

    @Test("A topic reaches its subscribers, and a condition the devices that match")
    func topics() async throws {
        bench.lab.join(topic: "news", on: bench.phone)
        #expect(try await bench.send(target: #""topic":"news""#).kind == "200")
        #expect(try await bench.send(target: #""topic":"sports""#).kind == "200")
        #expect(try await bench.send(target: #""topic":"a b""#).kind == Self.fieldFault)
        let fits = "'sports' in topics || ('news' in topics && !('spam' in topics))"
        #expect(try await bench.send(target: #""condition":"\#(fits)""#).kind == "200")
        #expect(try await bench.send(target: #""condition":"news""#).kind == Self.fieldFault)
        #expect(bench.lab.inbox(of: bench.phone).count == 2)
    }

    @Test("The project has a quota per minute")
    func quota() async throws {
        bench.simulator.update { $0.messagesPerMinute = 1 }
        #expect(try await bench.send().kind == "200")
        let reply = try await bench.send()
        #expect(reply.kind == "429 RESOURCE_EXHAUSTED fcm:QUOTA_EXCEEDED")
        #expect(reply["retry-after"] == "60")
    }

    @Test("A scripted fault rejects a valid request")
    func fault() async throws {
        bench.simulator.failNext(1, with: .unavailable)
        let reply = try await bench.send()
        #expect(reply.status == 503)
        #expect(reply["retry-after"] == "10")
        #expect(try await bench.send().kind == "200")
    }
}
