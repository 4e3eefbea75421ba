import HTTPTypes
import Testing

@testable import Simulators

/// Broadcasts to live activities, and their channels.
@Suite struct APNsBroadcastTests {
    let bench = APNsBench()
    static let path = "/1/apps/\(APNsBench.topic)/channels"
    static let update = #"{"aps":{"timestamp":1800000000,"event":"update","content-state":{"score":"1:0"}}}"#

    /// Sends a request with the bench's token and these fields.
    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: [(String, String)] = [], _ body: String = "",
        host: String = "localhost"
    ) async -> Reply {
        let request = HTTPRequest(method, host: host, path: path, [("authorization", "bearer \(bench.standing)")] + fields)
        return Reply(await bench.simulator.handle(request, body: Array(body.utf8)))
    }

    private func channel(policy: Int = 1) async throws -> String {
        let made = await send(.post, Self.path, [], #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
        #expect(made.status == 201)
        return try #require(made["apns-channel-id"])
    }

    private func broadcast(
        _ channel: String?, _ body: String = Self.update, change: ([(String, String)]) -> [(String, String)] = { $0 }
    ) async -> Reply {
        let fields = [("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-priority", "10")]
        return await send(
            .post, "/4/broadcasts/apps/\(APNsBench.topic)", change(fields + (channel.map { [("apns-channel-id", $0)] } ?? [])), body)
    }

    @Test func `a broadcast reaches subscribed phones only`() async throws {
        let id = try await channel()
        let other = bench.lab.addPhone(PhoneDescription(name: "bob", platform: .apns, app: PhoneApp(APNsBench.topic)))
        bench.lab.join(topic: id, on: bench.phone)
        let reply = await broadcast(id)
        #expect(reply.status == 200 && reply["apns-request-id"]?.count == 36)
        #expect(bench.lab.inbox(of: bench.phone).map(\.text) == [#"{"score":"1:0"}"#])
        #expect(bench.lab.inbox(of: other).isEmpty)
        bench.lab.leave(topic: id, on: bench.phone)
        #expect(await broadcast(id).status == 200)
        #expect(bench.lab.inbox(of: bench.phone).count == 1)
    }

    @Test func `if the channel stores it, the newest broadcast waits for an offline phone`() async throws {
        for (policy, expiration, count) in [(1, "1900000000", 1), (0, "0", 0)] {
            let bench = APNsBroadcastTests()
            let id = try await bench.channel(policy: policy)
            bench.bench.lab.join(topic: id, on: bench.bench.phone)
            bench.bench.lab.setOffline(bench.bench.phone)
            for _ in 0..<2 {
                let reply = await bench.broadcast(id) { $0.map { $0.0 == "apns-expiration" ? ($0.0, expiration) : $0 } }
                #expect(reply.status == 200)
            }
            bench.bench.lab.setOnline(bench.bench.phone)
            #expect(bench.bench.lab.inbox(of: bench.bench.phone).count == count)
        }
    }

    @Test func `a broadcast of priority 5 waits for a phone in low power, one of priority 10 is delivered immediately`() async throws {
        let id = try await channel()
        bench.lab.join(topic: id, on: bench.phone)
        bench.lab.setLowPower(bench.phone)
        for (priority, kind) in [("5", PhoneEvent.Kind.deferred), ("10", .delivered)] {
            let seen = bench.log.kinds.count
            let reply = await broadcast(id) {
                $0.map { ($0.0, ["apns-priority": priority, "apns-expiration": "1900000000"][$0.0] ?? $0.1) }
            }
            #expect(reply.status == 200)
            #expect(bench.log.kinds.dropFirst(seen).first == kind)
        }
    }

    @Test func `channels are created, read, listed and deleted`() async throws {
        let ids = [try await channel(policy: 0), try await channel(policy: 1)]
        for (policy, id) in ids.enumerated() {
            let read = await send(.get, Self.path, [("apns-channel-id", id)])
            #expect(read.status == 200)
            #expect(read.text == #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
        }
        let all = "/1/apps/\(APNsBench.topic)/all-channels"
        #expect(await send(.get, all).text == #"{"channels":["\#(ids[0])","\#(ids[1])"]}"#)
        #expect(await send(.delete, Self.path, [("apns-channel-id", ids[0])]).status == 204)
        #expect(await send(.get, all).text == #"{"channels":["\#(ids[1])"]}"#)
        let gone = await send(.get, Self.path, [("apns-channel-id", ids[0])])
        #expect(gone.member("reason") == "ChannelNotRegistered")
    }

    @Test func `an invalid channel request has its reason`() async throws {
        let good = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        let cases: [(HTTPRequest.Method, String, [(String, String)], String, String)] = [
            (.post, Self.path, [], "hello", "400 BadRequestPayload"), (.post, Self.path, [], "{}", "400 MissingPushType"),
            (.post, Self.path, [], #"{"push-type":"alert"}"#, "400 InvalidPushType"),
            (.post, Self.path, [], #"{"push-type":"LiveActivity","message-storage-policy":2}"#, "400 BadRequestParams"),
            (.get, Self.path, [], "", "400 MissingChannelId"), (.get, Self.path, [("apns-channel-id", "x")], "", "400 BadChannelId"),
            (.delete, Self.path, [("apns-channel-id", "AAAAAAAAAAAAAAAAAAAAAA==")], "", "400 ChannelNotRegistered"),
            (.put, Self.path, [], good, "405 MethodNotAllowed"),
            (.post, "/1/apps/\(APNsBench.topic)/all-channels", [], "", "405 MethodNotAllowed"),
            (.post, "/1/apps/com.example.other/channels", [], good, "403 TopicMismatch"),
            (.get, "/1/apps/\(APNsBench.topic)", [], "", "404 BadPath"),
            (.post, Self.path, [("apns-request-id", "x")], good, "400 BadMessageId"),
        ]
        for (method, path, fields, body, verdict) in cases {
            let reply = await send(method, path, fields, body)
            #expect("\(reply.status) \(reply.member("reason") ?? "")" == verdict, "\(method) \(path)")
        }
        bench.simulator.update { $0.largestChannelCount = 1 }
        _ = try await channel()
        #expect(await send(.post, Self.path, [], good).member("reason") == "CannotCreateChannelConfig")
        bench.simulator.update { $0.broadcasting = [] }
        let refused = await send(.post, Self.path, [], good)
        #expect(refused.status == 403 && refused.member("reason") == "FeatureNotEnabled")
    }

    @Test func `an invalid broadcast has its reason`() async throws {
        let id = try await channel()
        func changed(_ name: String, _ value: String?) async -> String {
            let reply = await broadcast(id) { fields in
                fields.filter { $0.0 != name } + (value.map { [(name, $0)] } ?? [])
            }
            return "\(reply.status) \(reply.member("reason") ?? "")"
        }
        #expect(await changed("apns-channel-id", nil) == "400 MissingChannelId")
        #expect(await changed("apns-channel-id", "short") == "400 BadChannelId")
        #expect(await changed("apns-channel-id", "AAAAAAAAAAAAAAAAAAAAAA==") == "400 ChannelNotRegistered")
        #expect(await changed("apns-push-type", nil) == "400 MissingPushType")
        #expect(await changed("apns-push-type", "alert") == "400 InvalidPushType")
        #expect(await changed("apns-priority", "1") == "400 BadPriority")
        #expect(await changed("apns-expiration", nil) == "400 BadExpirationDate")
        for body in ["", "{}", "[]", "hello"] { #expect(await broadcast(id, body).member("reason") == "PayloadEmpty") }
        for (size, status) in [(5120, 200), (5121, 413)] {
            let frame = #"{"aps":""}"#
            let body = #"{"aps":"\#(String(repeating: "x", count: size - frame.utf8.count))"}"#
            #expect(await broadcast(id, body).status == status)
        }
        #expect(bench.simulator.fail("TooManyRequests", count: 1, handle: id))
        #expect(await broadcast(id).member("reason") == "TooManyRequests")
        let strict = try await channel(policy: 0)
        let reply = await broadcast(strict) { $0.map { $0.0 == "apns-expiration" ? ($0.0, "1900000000") : $0 } }
        #expect(reply.member("reason") == "BadExpirationDate")
    }

    @Test func `the sender and the app of a broadcast are checked like those of a single push`() async throws {
        let id = try await channel()
        let fields = [("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-channel-id", id)]
        let path = "/4/broadcasts/apps/\(APNsBench.topic)"
        let good = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        func verdict(_ reply: Reply) -> String { "\(reply.status) \(reply.member("reason") ?? "")" }
        #expect(verdict(await send(.post, path, fields, Self.update)) == "200 ")
        #expect(verdict(await send(.get, path, fields, Self.update)) == "405 MethodNotAllowed")
        #expect(verdict(await send(.post, path, fields + [fields[2]], Self.update)) == "400 DuplicateHeaders")
        #expect(verdict(await send(.post, path, fields + [("apns-request-id", "x")], Self.update)) == "400 BadMessageId")
        for (method, path, fields, body) in [
            (HTTPRequest.Method.post, path, fields, Self.update), (.post, Self.path, [], good), (.get, Self.path, [fields[2]], ""),
            (.get, "/1/apps/\(APNsBench.topic)/all-channels", [], ""),
        ] {
            let anonymous = HTTPRequest(method, host: "localhost", path: path, fields)
            let reply = Reply(await bench.simulator.handle(anonymous, body: Array(body.utf8)))
            #expect(verdict(reply) == "403 MissingProviderToken")
        }
        let other = "/4/broadcasts/apps/com.example.other"
        #expect(verdict(await send(.post, other, fields, Self.update)) == "403 TopicMismatch")
        bench.simulator.allow(topic: "com.example.other")
        #expect(verdict(await send(.post, other, fields, Self.update)) == "400 ChannelNotRegistered")
        bench.simulator.update { $0.broadcasting = ["com.example.other"] }
        #expect(verdict(await send(.post, path, fields, Self.update)) == "403 FeatureNotEnabled")
        bench.simulator.update { $0.broadcasting = [APNsBench.topic] }
        #expect(verdict(await send(.post, path, fields, Self.update)) == "200 ")
    }

    @Test(
        arguments: [
            (#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#, "201 "),
            (#"[{"message-storage-policy":1,"push-type":"LiveActivity"}]"#, "400 BadRequestPayload"),
            (#"{"message-storage-policy":1}"#, "400 MissingPushType"),
            (#"{"message-storage-policy":1,"push-type":7}"#, "400 MissingPushType"),
            (#"{"message-storage-policy":1,"push-type":"liveactivity"}"#, "400 InvalidPushType"),
            (#"{"push-type":"LiveActivity"}"#, "400 BadRequestParams"),
            (#"{"message-storage-policy":"1","push-type":"LiveActivity"}"#, "400 BadRequestParams"),
            (#"{"message-storage-policy":-1,"push-type":"LiveActivity"}"#, "400 BadRequestParams"),
        ])
    func `creating a channel needs a policy and a push type`(body: String, verdict: String) async {
        let reply = await send(.post, Self.path, [], body)
        #expect("\(reply.status) \(reply.member("reason") ?? "")" == verdict)
    }

    @Test func `push hosts accept broadcasts, and management hosts accept channel requests`() async throws {
        let id = try await channel()
        let fields = [("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-channel-id", id)]
        let path = "/4/broadcasts/apps/\(APNsBench.topic)"
        #expect(await send(.post, path, fields, Self.update, host: "api.push.apple.com").status == 200)
        #expect(await send(.post, path, fields, Self.update, host: "api-manage-broadcast.push.apple.com").status == 404)
        let good = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        #expect(await send(.post, Self.path, [], good, host: "api-manage-broadcast.push.apple.com:2196").status == 201)
        #expect(await send(.post, Self.path, [], good, host: "api.push.apple.com").status == 404)
    }
}

/// Live activities on the phone.
@Suite struct LiveActivityTests {
    let bench = APNsBench()

    private func send(_ aps: String) async throws -> InboxItem? {
        let verdict = try await bench.verdict(#"{"aps":{\#(aps)}}"#) {
            $0.set("apns-push-type", "liveactivity")
            $0.set("apns-topic", APNsBench.topic + ".push-type.liveactivity")
        }
        #expect(verdict == "200")
        return bench.lab.inbox(of: bench.phone).last
    }

    private static let start =
        #""timestamp":100,"event":"start","content-state":{"n":0},"attributes-type":"Game","attributes":{},"alert":{"title":"Kick-off"}"#

    @Test func `an activity starts, changes and ends, and shows one state at a time`() async throws {
        #expect(try await send(Self.start)?.text == "Kick-off")
        #expect(try await send(#""timestamp":110,"event":"update","content-state":{"n":1}"#)?.text == #"{"n":1}"#)
        #expect(try await send(#""timestamp":120,"event":"end","content-state":{"n":2}"#)?.text == #"{"n":2}"#)
        #expect(bench.lab.inbox(of: bench.phone).map(\.isShown) == [false, false, true])
        let late = try await send(#""timestamp":130,"event":"update","content-state":{"n":3}"#)
        #expect(late?.reasonNotShown == "the live activity has ended")
        #expect(try await send(Self.start.replacing("100", with: "140"))?.isShown == true)
    }

    @Test func `an update that is older than the shown one is ignored`() async throws {
        _ = try await send(#""timestamp":110,"event":"update","content-state":{"n":1}"#)
        let old = try await send(#""timestamp":109,"event":"update","content-state":{"n":0}"#)
        #expect(old?.reasonNotShown == "older than what the live activity shows")
        #expect(bench.lab.inbox(of: bench.phone).first?.isShown == true)
    }

    @Test(
        arguments: [
            (#""event":"update","content-state":{}"#, "aps has no timestamp in seconds"),
            (#""timestamp":1,"event":"stop","content-state":{}"#, "the event is not start, update or end"),
            (#""timestamp":1,"event":"update""#, "aps has no content-state"),
            (#""timestamp":1,"event":"start","content-state":{}"#, "a start needs attributes-type, attributes and an alert"),
        ])
    func `an unreadable update is accepted by APNs and ignored on the phone`(aps: String, reason: String) async throws {
        #expect(try await send(aps)?.reasonNotShown == reason)
    }
}
