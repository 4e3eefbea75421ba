import HTTPTypes
import Simulators
import Testing

@Suite("APNs checks the request")
struct APNsSimulatorRequestTests {
    let bench = APNsBench()

    @Test("A valid request is accepted with its id in the answer, and the phone shows it")
    func valid() async throws {
        let reply = try await bench.send()
        #expect(reply.status == 200)
        #expect(reply.body.isEmpty)
        #expect(reply["apns-id"] == "123e4567-e89b-12d3-a456-4266554400a0")
        #expect(reply["apns-unique-id"] == nil)
        #expect(bench.lab.inbox(of: bench.phone).map(\.text) == ["Hello"])
    }

    @Test("A request without an id gets one, and development adds a unique id")
    func madeIDs() async throws {
        let reply = try await APNsBench(environment: .development).send { $0.set("apns-id", nil) }
        #expect(reply.status == 200)
        #expect(reply["apns-id"]?.count == 36)
        #expect(reply["apns-unique-id"]?.count == 36)
    }

    @Test("Only POST is allowed")
    func method() async throws {
        #expect(try await bench.verdict { $0.method = .get } == "405 MethodNotAllowed")
    }

    @Test("Other paths do not exist, whatever the method", arguments: ["/", "/2/device/00", "/3/devices/00", "/3/device/00/11"])
    func path(path: String) async throws {
        #expect(try await bench.verdict { $0.path = path } == "404 BadPath")
        #expect(try await bench.verdict { ($0.path, $0.method) = (path, .get) } == "404 BadPath")
    }

    @Test("A repeated field is rejected", arguments: ["apns-topic", "apns-id", "apns-push-type"])
    func duplicates(field: String) async throws {
        #expect(
            try await bench.verdict { request in
                let value = HTTPField.Name(field).flatMap { request.headerFields[$0] } ?? ""
                request.add(field, value)
            } == "400 DuplicateHeaders")
    }

    @Test(
        "An id must be a canonical UUID",
        arguments: ["", "1", "123E4567-E89B-12D3-A456-4266554400A0", "123e4567e89b12d3a4564266554400a0"])
    func messageID(id: String) async throws {
        #expect(try await bench.verdict { $0.set("apns-id", id) } == "400 BadMessageId")
    }

    @Test("The topic is required")
    func missingTopic() async throws {
        #expect(try await bench.verdict { $0.set("apns-topic", nil) } == "400 MissingTopic")
    }

    @Test("The topic must be a bundle id")
    func badTopic() async throws {
        #expect(try await bench.verdict { $0.set("apns-topic", "com example news") } == "400 BadTopic")
    }

    @Test("The topic must be one of the team's")
    func disallowedTopic() async throws {
        #expect(try await bench.verdict { $0.set("apns-topic", "com.other.app") } == "400 TopicDisallowed")
    }

    @Test("The topic must be the app of the device token")
    func foreignTopic() async throws {
        bench.simulator.allow(topic: "com.example.other")
        #expect(try await bench.verdict { $0.set("apns-topic", "com.example.other") } == "400 DeviceTokenNotForTopic")
    }

    @Test("The push type must be known")
    func pushType() async throws {
        #expect(try await bench.verdict { $0.set("apns-push-type", "shout") } == "400 InvalidPushType")
    }

    @Test("The push type is optional")
    func noPushType() async throws {
        #expect(try await bench.verdict { $0.set("apns-push-type", nil) } == "200")
    }

    static let suffixes = [
        ("voip", ".voip"), ("location", ".location-query"), ("complication", ".complication"),
        ("fileprovider", ".pushkit.fileprovider"), ("liveactivity", ".push-type.liveactivity"),
        ("pushtotalk", ".voip-ptt"), ("widgets", ".push-type.widgets"), ("controls", ".push-type.controls"),
    ]

    @Test("A push type needs its topic suffix", arguments: suffixes)
    func suffix(type: String, suffix: String) async throws {
        #expect(try await bench.verdict { $0.set("apns-push-type", type) } == "400 InvalidPushType")
        #expect(try await bench.verdict { $0.set("apns-topic", APNsBench.topic + suffix) } == "400 InvalidPushType")
        #expect(
            try await bench.verdict {
                $0.set("apns-push-type", type)
                $0.set("apns-topic", APNsBench.topic + suffix)
            } == "200")
    }

    @Test("The expiration must be seconds since 1970", arguments: ["soon", "-1", "1.5", ""])
    func expiration(text: String) async throws {
        #expect(try await bench.verdict { $0.set("apns-expiration", text) } == "400 BadExpirationDate")
    }

    @Test("The priority must be 10, 5 or 1", arguments: ["0", "7", "high", ""])
    func priority(text: String) async throws {
        #expect(try await bench.verdict { $0.set("apns-priority", text) } == "400 BadPriority")
    }

    @Test("A background push must not ask for priority 10")
    func backgroundPriority() async throws {
        let body = #"{"aps":{"content-available":1}}"#
        #expect(
            try await bench.verdict(body) {
                $0.set("apns-push-type", "background")
                $0.set("apns-priority", "10")
            } == "400 BadPriority")
        #expect(
            try await bench.verdict(body) {
                $0.set("apns-push-type", "background")
                $0.set("apns-priority", "5")
            } == "200")
    }

    @Test("A collapse id has at most 64 bytes, not characters")
    func collapseID() async throws {
        let fits = String(repeating: "x", count: 64)
        #expect(try await bench.verdict { $0.set("apns-collapse-id", fits) } == "200")
        #expect(try await bench.verdict { $0.set("apns-collapse-id", fits + "x") } == "400 BadCollapseId")
    }

    @Test("There must be a payload, and it must be a JSON object", arguments: ["", "{}", "[]", "hello"])
    func payload(body: String) async throws {
        #expect(try await bench.verdict(body) == "400 PayloadEmpty")
    }

    @Test("A payload has at most 4096 bytes, or 5120 for VoIP")
    func size() async throws {
        func body(_ size: Int) -> String {
            let frame = #"{"aps":{"alert":""}}"#
            return #"{"aps":{"alert":"\#(String(repeating: "x", count: size - frame.utf8.count))"}}"#
        }
        func call(_ request: inout HTTPRequest) {
            request.set("apns-push-type", "voip")
            request.set("apns-topic", APNsBench.topic + ".voip")
        }
        #expect(try await bench.verdict(body(4096)) == "200")
        #expect(try await bench.verdict(body(4097)) == "413 PayloadTooLarge")
        #expect(try await bench.verdict(body(5120), change: call) == "200")
        #expect(try await bench.verdict(body(5121), change: call) == "413 PayloadTooLarge")
    }

    @Test("The device token is required")
    func missingDeviceToken() async throws {
        #expect(try await bench.verdict { $0.path = "/3/device/" } == "400 MissingDeviceToken")
    }

    @Test("The device token must be hexadecimal, of even length, and known", arguments: ["zz", "abc", "abcd"])
    func badDeviceToken(token: String) async throws {
        #expect(try await bench.verdict { $0.path = "/3/device/\(token)" } == "400 BadDeviceToken")
    }

    @Test("A device token of the other environment is bad")
    func environment() async throws {
        let phone = bench.lab.addPhone(
            PhoneDescription(name: "bob", platform: .apns, app: PhoneApp(APNsBench.topic, environment: .development)))
        let handle = bench.lab.pushHandle(of: phone) ?? ""
        #expect(try await bench.verdict { $0.path = "/3/device/\(handle)" } == "400 BadDeviceToken")
    }

    @Test("A token that was rotated or whose app was uninstalled is 410 with the time of the change")
    func unregistered() async throws {
        let request = bench.request()
        bench.time.advance(seconds: 5)
        let died = bench.time.now
        bench.lab.rotateToken(of: bench.phone)
        bench.time.advance(seconds: 60)
        let rotated = Reply(await bench.simulator.handle(request, body: Array(#"{"aps":{}}"#.utf8)))
        #expect(rotated.status == 410)
        #expect(rotated.member("reason") == "Unregistered")
        #expect(rotated.member("timestamp") == String(died))
        let second = bench.request()
        bench.lab.uninstall(bench.phone)
        #expect(bench.lab.pushHandle(of: bench.phone) == nil)
        let uninstalled = Reply(await bench.simulator.handle(second, body: Array(#"{"aps":{}}"#.utf8)))
        #expect(uninstalled.member("timestamp") == String(bench.time.now))
        bench.lab.reinstall(bench.phone)
        #expect(try await bench.verdict() == "200")
    }

    @Test("The pushes to one device are limited per minute")
    func tooManyRequests() async throws {
        bench.simulator.update { $0.pushesPerMinutePerDevice = 1 }
        #expect(try await bench.verdict() == "200")
        #expect(try await bench.verdict() == "429 TooManyRequests")
        bench.time.advance(seconds: 60)
        #expect(try await bench.verdict() == "200")
    }

    @Test("A scripted fault rejects a valid request")
    func fault() async throws {
        bench.simulator.failNext(1, with: .serviceUnavailable)
        #expect(try await bench.verdict() == "503 ServiceUnavailable")
        #expect(try await bench.verdict() == "200")
    }
}
