import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct BackendNotificationTests {
    @Test func `A send without a body sends a greeting to the requester, in the form of the tutorial`() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(.post, "/api/notifications")
        #expect(answer.status == .ok && answer.body.isEmpty)
        let sent = try #require(try await bench.sent(answer))
        #expect(sent.audience == .expression(.tag(try Tag("username:alice"))))
        #expect(sent.body(.apns) == #"{"aps":{"alert":"Hello, alice"}}"#)
        #expect(sent.body(.gcm) == #"{"data":{"msg":"Hello, alice"}}"#)
        #expect(sent.body(.fcmV1) == #"{"message":{"data":{"msg":"Hello, alice"}}}"#)
        #expect(sent.body(.wns)?.contains(#"<text id="1">Hello, alice</text>"#) == true)
    }

    @Test func `A text goes to the named user, on one platform or all, and is escaped`() async throws {
        let bench = try await BackendBench()
        let bob = try Tag("username:bob")
        for (name, platform) in [("apns", Platform.apns), ("GCM", .gcm), ("fcm", .fcmV1), ("fcmv1", .fcmV1), ("wns", .wns)] {
            let answer = try await bench.call(.post, "/api/notifications?pns=\(name)&to_tag=bob", #""<Hi> \"you\"""#)
            let sent = try #require(try await bench.sent(answer))
            #expect(answer.status == .ok)
            #expect(sent.audience == .expression(.tag(bob)))
            guard case .native(let payloads) = sent.content else {
                Issue.record("no payloads")
                return
            }
            #expect(Array(payloads.keys) == [platform])
            let body = try #require(sent.body(platform))
            #expect(body.contains(platform == .wns ? "From alice: &lt;Hi&gt;" : #"From alice: <Hi> \"you\""#), "\(body)")
        }
        let all = try await bench.sent(try await bench.call(.post, "/api/notifications?to_tag=bob", #""Hi""#))
        #expect(all?.body(.apns) != nil && all?.body(.fcmV1) != nil)
    }

    @Test(
        arguments: [
            ("?pns=pigeon&to_tag=bob", #""Hi""#), ("?pns=apns", #""Hi""#), ("?pns=apns&to_tag=", #""Hi""#), ("?pns=apns&to_tag=bob", ""),
            ("?pns=apns&pns=fcm&to_tag=bob", #""Hi""#), ("?to_tag=bob&TO_TAG=eve", #""Hi""#), ("?handle=a&handle=b", ""),
            ("?pns=apns&to_tag=a b", #""Hi""#), ("?pns=apns&to_tag=bob", "Hi"), ("", "7"), ("", "{}"), ("", #"{"to":"bob"}"#),
            ("", #"{"payload":1}"#), ("", #"{"to":"bob","payload":1,"expiresIn":"soon"}"#),
            ("", #"{"to":"bob","payload":1,"expiresIn":0}"#),
            ("", #"{"to":"bob","payload":1,"maxReads":0}"#), ("", #"{"to":"bob","payload":1,"maxreads":1.5}"#),
            ("", #"{"to":"bob","payload":1,"expires":3}"#), ("", #"{"to":"bob","to":"eve","payload":1}"#),
        ])
    func `an invalid send is refused with 400, and nothing is sent`(query: String, body: String) async throws {
        let bench = try await BackendBench()
        let error = await refusal { try await bench.call(.post, "/api/notifications\(query.replacing(" ", with: "%20"))", body) }
        #expect(error?.status == 400)
        #expect(await bench.hub?.backlog == 0)
    }

    // MARK: - Secure push

    @Test func `A secure payload is not part of any push, and only its recipient can read it, as often as allowed`() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(
            .post, "/api/notifications", #"{"to":"BOB","payload":{"code":"4711"},"expiresIn":60,"maxReads":1}"#)
        let made = try JSON(parsing: answer.body)
        let id = try #require(made["id"]?.string)
        #expect(answer.status == .created && made["expiresAt"] == .string((HubBench.startTime + .seconds(60)).description))
        #expect(made["notificationId"]?.string == answer.fields[.notificationID])
        #expect(try await bench.sent(answer)?.body(.apns) == #"{"aps":{"content-available":1},"secureId":"\#(id)"}"#)
        let path = "/tutorials/secure-push/api/notifications/\(id)"
        #expect(await refusal { try await bench.call(.get, path) }?.status == 403)
        let read = try await bench.json(.get, path, by: BackendBench.bob)
        #expect(read == ["Id": .integer(Int64(id) ?? 0), "Payload": #"{"code":"4711"}"#, "Read": false, "Content": ["code": "4711"]])
        let again = await refusal { try await bench.call(.get, path, by: BackendBench.bob) }
        #expect(again?.status == 410 && again?.message.contains("4711") == false)
        #expect(await refusal { try await bench.call(.get, "/api/notifications/1", by: BackendBench.bob) }?.status == 404)
        let reads = try await bench.json(.get, "\(path)/reads")["items"]?.array ?? []
        #expect(reads.map { $0["result"] } == ["forbidden", "granted", "exhausted"])
        #expect(reads[0] == ["time": .string(HubBench.startTime.description), "username": "alice", "result": "forbidden"])
    }

    @Test func `The numbers of a secure payload keep their text`() async throws {
        let bench = try await BackendBench()
        let numbers = "[12.50,123456789012345678901234567890.5,0.12345678901234567890123,12345678901234567890,1e3,-0,1.5,7]"
        let made = try await bench.json(
            .post, "/api/notifications", #"{"to":"bob","payload":\#(numbers),"expiresIn":60.50,"maxReads":2.0}"#)
        #expect(made["expiresAt"] == .string((HubBench.startTime + .milliseconds(60_500)).description))
        let id = try #require(made["id"]?.string)
        let read = String(decoding: try await bench.call(.get, "/api/notifications/\(id)", by: BackendBench.bob).body, as: UTF8.self)
        #expect(read.contains(#""Payload":"\#(numbers)""#) && read.contains(#""Content":\#(numbers)"#), "\(read)")
    }

    @Test func `A recipient lists payloads without their content, and can delete them`() async throws {
        let bench = try await BackendBench()
        #expect(try await bench.json(.get, "/api/notifications", by: BackendBench.bob) == ["items": []])
        var ids: [String] = []
        for seconds in [60, 30] {
            let made = try await bench.json(.post, "/api/notifications", #"{"to":"BOB","payload":"4711","expiresIn":\#(seconds)}"#)
            ids.append(try #require(made["id"]?.string))
        }
        let listed = try await bench.json(.get, "/hub/api/notifications", by: BackendBench.bob)
        let items = ids.reversed().enumerated().map { number, id -> JSON in
            ["id": .string(id), "from": "alice", "expiresAt": .string((HubBench.startTime + .seconds(number == 0 ? 30 : 60)).description)]
        }
        #expect(listed == ["items": .array(items)])
        #expect(try await bench.json(.get, "/api/notifications") == ["items": []])
        for id in ids {
            #expect(try await bench.call(.delete, "/api/notifications/\(id)", by: BackendBench.bob).status == .noContent)
        }
        #expect(try await bench.json(.get, "/api/notifications", by: BackendBench.bob) == ["items": []])
    }

    @Test func `A payload that is a text is returned as that text, and a revoked one is gone`() async throws {
        let bench = try await BackendBench()
        let id = try #require(
            try await bench.json(.post, "/api/notifications", #"{"to":"bob","payload":"a \"b\"","maxReads":null}"#)["id"]?.string)
        let read = try await bench.json(.get, "/api/notifications/\(id)", by: BackendBench.bob)
        #expect(read["Payload"] == #"a "b""# && read["Content"] == #"a "b""#)
        #expect(try await bench.call(.delete, "/api/notifications/\(id)").status == .noContent)
        #expect(await refusal { try await bench.call(.get, "/api/notifications/\(id)", by: BackendBench.bob) }?.status == 410)
    }

    @Test func `The secure variant stores a confirmation for the requester`() async throws {
        let bench = try await BackendBench()
        let answer = try await bench.call(.post, "/hub/Tutorials/Secure-Push/api/notifications")
        let wake = try #require(try await bench.sent(answer)?.body(.gcm))
        let id = try #require(try JSON(parsing: wake)["data"]?["secureId"]?.string)
        #expect(answer.status == .ok && answer.body.isEmpty)
        #expect(try await bench.json(.get, "/api/notifications/\(id)")["Payload"] == "Secure confirmation.")
    }

    @Test func `The largest payload fits into a request, and a larger one is refused`() async throws {
        let bench = try await BackendBench()
        for (count, status) in [(65_534, nil), (65_535, 413), (200_000, 413)] as [(Int, Int?)] {
            let body = #"{"to":"bob","payload":"\#(String(repeating: "a", count: count))"}"#
            #expect(await refusal { try await bench.call(.post, "/api/notifications", body) }?.status == status, "\(count)")
        }
    }
}
