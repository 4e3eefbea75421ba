import HTTPTypes
import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct BackendRegistrationTests {
    private static let token = String(repeating: "AB", count: 32)
    private static let installation = "0b6f7a8e-3c2d-4e5f-8a9b-1c2d3e4f5a6b"

    @Test func `An id is a JSON text, and a known handle gets its first id again and loses its other registrations`() async throws {
        let bench = try await BackendBench()
        let id = try await bench.registered(#"{"Platform":"apns","Handle":"\#(Self.token)","Tags":["a"]}"#)
        #expect(RegistrationID(id) != nil)
        _ = try await bench.registered(#"{"Platform":"apns","Handle":"\#(Self.token)","Tags":["b"]}"#)
        #expect(try await bench.registrations.count == 2)
        #expect(try await bench.json(.post, "/api/register?handle=\(Self.token.lowercased())") == .string(id))
        #expect(try await bench.registrations.map(\.id.text) == [id])
        let other = try await bench.call(.post, "/HUB/api/Register/?Handle=unknown")
        #expect(other.status == .ok && other.fields[.contentType] == "application/json; charset=utf-8")
        #expect(try JSON(parsing: other.body).string != id)
    }

    @Test func `A registration is stored with its user's tag, and member names may be in any case`() async throws {
        let bench = try await BackendBench()
        let id = try await bench.json(.post, "/api/register").string ?? ""
        let answer = try await bench.call(
            .put, "/api/register/\(id)", #"{"platform":"FCM","HANDLE":"token","tags":null}"#)
        #expect(answer.status == .ok && answer.body.isEmpty)
        let kept = try #require(try await bench.registrations.first)
        #expect(kept.handle == .fcmV1(token: "token") && kept.tags.map(\.text) == ["username:alice"])
        for body in [
            #"{"Platform":"pigeon","Handle":"x"}"#, #"{"Handle":"x"}"#, #"{"Platform":"apns"}"#, "[]", "{", "",
            #"{"Platform":"fcm","Handle":"x","Tags":[1]}"#, #"{"Platform":"fcm","Handle":"x","Tag":["a"]}"#,
            #"{"Platform":"fcm","Handle":"x","Tags":["username:bob"]}"#,
        ] {
            #expect(await refusal { try await bench.call(.put, "/api/register/\(id)", body) }?.status == 400, "\(body)")
        }
        let large = "\"" + String(repeating: "a", count: BackendInterface.bodyLimit) + "\""
        #expect(await refusal { try await bench.call(.put, "/api/register/\(id)", large) }?.status == 413)
    }

    @Test(arguments: ["return=representation", "respond-async, Return=\"representation\"; a=b"])
    func `A client that prefers the representation gets the registration`(preference: String) async throws {
        let bench = try await BackendBench()
        let id = try await bench.json(.post, "/api/register").string ?? ""
        let preferring: HTTPFields = [try #require(HTTPField.Name("Prefer")): preference]
        let body =
            #"{"Platform":"apns","Handle":"\#(Self.token)","Tags":["a"],"Template":{"body":"{\"aps\":{\"alert\":\"$(m)\"}}","name":"n","headers":{"apns-priority":"5"},"expiry":"0"}}"#
        let answer = try await bench.call(.put, "/api/register/\(id)", body, preferring)
        #expect(answer.fields[.preferenceApplied] == "return=representation")
        let json = try JSON(parsing: answer.body)
        #expect(json["RegistrationId"] == .string(id) && json["ETag"] == "1" && json["DeviceToken"] == .string(Self.token))
        #expect(json["Tags"] == ["a", "username:alice"] && json["Platform"] == "apns" && json["Handle"] == .string(Self.token))
        #expect(json["Template"] == ["Name": "n", "Body": #"{"aps":{"alert":"$(m)"}}"#, "Headers": ["apns-priority": "5"], "Expiry": "0"])
        #expect(json["ExpirationTime"]?.string.flatMap { Timestamp(iso8601: $0) } != nil)
    }

    @Test func `An expired id is answered with 410, so that the app requests another`() async throws {
        let bench = try await BackendBench()
        let body = #"{"Platform":"apns","Handle":"\#(Self.token)"}"#
        let id = try await bench.registered(body)
        #expect(try await bench.call(.delete, "/api/register/\(id)").status == .ok)
        for id in [id, "no-id"] {
            let error = await refusal { try await bench.call(.put, "/api/register/\(id)", body) }
            #expect(error?.code == "hub.gone" && error?.status == 410)
            #expect(await refusal { try await bench.call(.delete, "/api/register/\(id)") }?.status == 404)
        }
        #expect(try await bench.call(.put, "/api/register/\(bench.json(.post, "/api/register").string ?? "")", body).status == .ok)
    }

    @Test func `Another user's registration cannot be changed or deleted`() async throws {
        let bench = try await BackendBench()
        let id = try await bench.registered(#"{"Platform":"apns","Handle":"\#(Self.token)"}"#)
        for (method, body) in [(.put, #"{"Platform":"fcm","Handle":"theirs"}"#), (.delete, "")] as [(HTTPRequest.Method, String)] {
            let error = await refusal { try await bench.call(method, "/api/register/\(id)", body, by: BackendBench.bob) }
            #expect(error?.code == "backend.forbidden" && error?.status == 403)
        }
    }

    @Test func `The cross-platform variant stores templates for every platform it knows`() async throws {
        let bench = try await BackendBench()
        let channel = "https://db5.notify.windows.com/?token=A"
        for (platform, handle) in [("apns", Self.token), ("gcm", "g"), ("fcmv1", "f"), ("wns", channel), ("mpns", channel)] {
            _ = try await bench.registered(#"{"Platform":"\#(platform)","Handle":"\#(handle)"}"#, at: "/hub/tutorials/cross-platform")
        }
        let bodies = try await bench.registrations.map { $0.template?.body ?? "" }
        #expect(bodies.count == 5 && bodies.allSatisfy { $0.contains("$(message)") })
        #expect(bodies[0] == #"{"aps":{"alert":"$(message)"}}"# && bodies[1] == #"{"data":{"msg":"$(message)"}}"#)
        #expect(bodies[3].contains("ToastText01") && bodies[4].contains("wp:Text1"))
        let sent = try await bench.sent(try await bench.call(.post, "/hub/tutorials/cross-platform/api/notifications"))
        #expect(sent?.content == .template(["message": "Hello, alice"]))
        #expect(sent?.audience == .expression(.tag(try Tag("username:alice"))))
    }

    @Test func `The app of 2013 registers its installation, and gets a test notification`() async throws {
        let bench = try await BackendBench()
        let body = #"{"platform":"ios","instId":"\#(Self.installation)","deviceToken":"\#(Self.token)","channelUri":null}"#
        let answer = try await bench.call(.post, "/api/register", body)
        let json = try JSON(parsing: answer.body)
        #expect(answer.status == .ok && json["DeviceToken"] == .string(Self.token))
        #expect(json["Tags"] == [.string(Self.installation), "alice"])
        #expect(try await bench.sent(answer)?.body(.apns)?.contains(#""inAppMessage":"Test notification for alice""#) == true)
        let windows = #"{"platform":"windows","instId":"\#(Self.installation)","channelUri":"https://wns.example/1"}"#
        #expect(try await bench.json(.post, "/api/register", windows)["ChannelUri"] == "https://wns.example/1")
        #expect(try await bench.registrations.count == 1)
        for body in [
            #"{"platform":"pigeon","instId":"\#(Self.installation)","deviceToken":"x"}"#, #"{"platform":"ios","deviceToken":"AB"}"#,
            #"{"platform":"ios","instId":"\#(Self.installation)","deviceToken":null}"#,
            #"{"platform":"ios","instId":"1","deviceToken":"AB"}"#,
        ] {
            #expect(await refusal { try await bench.call(.post, "/api/register", body) }?.status == 400, "\(body)")
        }
    }
}
