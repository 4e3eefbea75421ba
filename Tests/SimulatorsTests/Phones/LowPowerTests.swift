import HTTPTypes
import Simulators
import Testing

/// Phones in low power mode: which pushes arrive at once, which wait for full power, and what happens to these.
@Suite struct LowPowerTests {
    private static let power = "the phone is in low power mode and the push may not be stored"

    /// The result of one push to a phone in low power, before and after it has full power.
    private func result(
        in lab: PhoneLab, _ log: EventLog, of phone: PhoneID, send: () async throws -> Void
    ) async throws -> (first: PhoneEvent.Kind?, arrivals: Int) {
        lab.setLowPower(phone)
        try await send()
        let first = log.kinds.first
        if first == .deferred { #expect(log.kinds == [.deferred] && lab.inbox(of: phone).isEmpty) }
        lab.setFullPower(phone)
        return (first, log.kinds.count { $0 == .delivered })
    }

    // MARK: - Waiting pushes

    @Test(
        arguments: [
            ("alert", nil, true), ("alert", "10", true), ("alert", "5", false), ("alert", "1", false), ("background", nil, false),
            ("background", "5", false), ("voip", "10", true), ("voip", "5", false), ("location", "1", false), ("mdm", nil, true),
        ] as [(String, String?, Bool)])
    func `APNs delivers priority 10 immediately, 5 and 1 wait`(type: String, priority: String?, comes: Bool) async throws {
        let bench = APNsBench()
        let suffix = ["voip": ".voip", "location": ".location-query"][type] ?? ""
        let result = try await result(in: bench.lab, bench.log, of: bench.phone) {
            let body = #"{"aps":{"alert":"Hello","content-available":1}}"#
            let verdict = try await bench.verdict(body) {
                $0.set("apns-push-type", type)
                $0.set("apns-topic", APNsBench.topic + suffix)
                $0.set("apns-priority", priority)
            }
            #expect(verdict == "200")
        }
        #expect(result.first == (comes ? .delivered : .deferred))
        #expect(result.arrivals == 1)
    }

    @Test(
        arguments: [
            (#""notification":{"body":"x"}"#, true), (#""data":{"message":"x"}"#, false),
            (#""notification":{"body":"x"},"android":{"priority":"high"}"#, true),
            (#""data":{"message":"x"},"android":{"priority":"HIGH"}"#, true),
            (#""notification":{"body":"x"},"android":{"priority":"normal"}"#, false),
            (#""data":{"message":"x"},"android":{"priority":"NORMAL"}"#, false),
        ])
    func `FCM delivers high priority immediately, normal waits`(fields: String, comes: Bool) async throws {
        let bench = FCMBench()
        let result = try await result(in: bench.lab, bench.log, of: bench.phone) {
            let reply = try await bench.send(fields)
            #expect(reply.status == 200)
        }
        #expect(result.first == (comes ? .delivered : .deferred))
        #expect(result.arrivals == 1)
    }

    @Test(
        arguments: [
            ("wns/toast", nil, true), ("wns/toast", "1", true), ("wns/toast", "2", true), ("wns/toast", "3", false),
            ("wns/toast", "4", false), ("wns/badge", nil, true), ("wns/badge", "4", false), ("wns/raw", nil, false),
            ("wns/raw", "2", true), ("wns/raw", "3", false),
        ] as [(String, String?, Bool)])
    func `WNS delivers high and medium immediately, low and very low wait`(type: String, priority: String?, comes: Bool) async throws {
        let bench = WNSBench()
        let body = ["wns/toast": WNSBench.toast, "wns/badge": WNSBench.badge][type] ?? "raw"
        let result = try await result(in: bench.lab, bench.log, of: bench.phone) {
            let reply = try await bench.send(body, type: type) {
                $0.set("x-wns-priority", priority)
                $0.set("x-wns-requestforstatus", "true")
            }
            // The device is connected; it defers the push itself.
            #expect(reply["x-wns-status"] == "received" && reply["x-wns-deviceconnectionstatus"] == "connected")
        }
        #expect(result.first == (comes ? .delivered : .deferred))
        #expect(result.arrivals == 1)
    }

    @Test(arguments: [(nil, false), ("very-low", false), ("low", false), ("normal", false), ("high", true)] as [(String?, Bool)])
    func `a browser on a low battery accepts urgent messages only`(urgency: String?, comes: Bool) async throws {
        let bench = WebPushBench()
        let result = try await result(in: bench.lab, bench.log, of: bench.phone) {
            let reply = try await bench.send { $0.set("urgency", urgency) }
            #expect(reply.status == 201)
        }
        #expect(result.first == (comes ? .delivered : .deferred))
        #expect(result.arrivals == 1)
    }

    // MARK: - While pushes wait

    @Test func `one notification of APNs waits per app, and an urgent one overtakes it or replaces it by collapse id`() async throws {
        let bench = APNsBench()
        func send(_ text: String, priority: String, collapse: String? = nil) async throws {
            let verdict = try await bench.verdict(#"{"aps":{"alert":"\#(text)"}}"#) {
                $0.set("apns-priority", priority)
                $0.set("apns-collapse-id", collapse)
                $0.set("apns-id", nil)
            }
            #expect(verdict == "200")
        }
        func texts() -> [String] { bench.lab.inbox(of: bench.phone).map(\.text) }
        bench.lab.setLowPower(bench.phone)
        try await send("one", priority: "5")
        try await send("two", priority: "1")
        try await send("now", priority: "10")
        #expect(texts() == ["now"])
        bench.lab.setFullPower(bench.phone)
        #expect(texts() == ["now", "two"])
        bench.lab.setLowPower(bench.phone)
        try await send("1:0", priority: "5", collapse: "score")
        try await send("2:0", priority: "10", collapse: "score")
        bench.lab.setFullPower(bench.phone)
        #expect(texts() == ["now", "two", "2:0"])
    }

    @Test func `messages of FCM wait in order, one per collapse key, until their ttl`() async throws {
        let bench = FCMBench()
        func send(_ text: String, _ android: String = "") async throws {
            #expect(try await bench.send(#""data":{"message":"\#(text)"},"android":{\#(android)}"#).status == 200)
        }
        bench.lab.setLowPower(bench.phone)
        try await send("a1", #""collapse_key":"a""#)
        try await send("plain")
        try await send("short", #""ttl":"60s""#)
        try await send("a2", #""collapse_key":"a""#)
        try await send("b1", #""collapse_key":"b""#)
        try await send("b2", #""collapse_key":"b","priority":"high""#)
        try await send("now or never", #""ttl":"0s""#)
        #expect(bench.log.kinds.last == .dropped(reason: Self.power))
        bench.time.advance(seconds: 60)
        bench.lab.setFullPower(bench.phone)
        #expect(bench.lab.inbox(of: bench.phone).map(\.text) == ["b2", "plain", "a2"])
        #expect(bench.log.kinds.count { $0 == .expired } == 1)
    }

    @Test func `a device defers notifications that WNS does not cache, at most five tiles, and drops those with a TTL of 0`() async throws {
        let bench = WNSBench()
        func tile(_ text: String, tag: String? = nil, priority: String = "3") async throws {
            let body = "<tile><visual><binding template='TileWide'><text>\(text)</text></binding></visual></tile>"
            let reply = try await bench.send(body, type: "wns/tile") {
                $0.set("x-wns-priority", priority)
                $0.set("x-wns-cache-policy", "no-cache")
                $0.set("x-wns-tag", tag)
            }
            #expect(reply["x-wns-status"] == "received")
        }
        bench.lab.setLowPower(bench.phone)
        for number in 1...6 { try await tile(String(number)) }
        try await tile("old", tag: "t")
        try await tile("new", tag: "t", priority: "1")
        #expect(try await bench.send("x", type: "wns/raw") { $0.set("x-wns-ttl", "0") }.status == 200)
        #expect(bench.log.kinds.last == .dropped(reason: Self.power))
        #expect(bench.lab.tiles(of: bench.phone) == [["new"]])
        bench.lab.setFullPower(bench.phone)
        #expect(bench.lab.tiles(of: bench.phone) == [["new"], ["3"], ["4"], ["5"], ["6"]])
    }

    @Test func `messages of a browser wait for their TTL, and a topic has one waiting message`() async throws {
        let bench = WebPushBench()
        func send(_ text: String, ttl: String = "3600", topic: String? = nil, urgency: String = "low") async throws {
            let reply = try await bench.send(text) {
                $0.set("ttl", ttl)
                $0.set("topic", topic)
                $0.set("urgency", urgency)
            }
            #expect(reply.status == 201)
        }
        bench.lab.setLowPower(bench.phone)
        try await send("lost", ttl: "0")
        #expect(bench.log.kinds == [.dropped(reason: Self.power)])
        try await send("short", ttl: "60")
        try await send("score 1", topic: "score")
        try await send("news")
        try await send("score 2", topic: "score")
        try await send("weather", topic: "weather")
        try await send("storm", topic: "weather", urgency: "high")
        bench.time.advance(seconds: 60)
        bench.lab.setFullPower(bench.phone)
        #expect(bench.items.map(\.text) == ["storm", "news", "score 2"])
        #expect(bench.log.kinds.count { $0 == .expired } == 1)
    }

    // MARK: - With other events of a phone

    @Test func `a push that arrives when the phone is online again may still wait for power, which is reported once`() async throws {
        let bench = FCMBench()
        bench.lab.setLowPower(bench.phone)
        bench.lab.setOffline(bench.phone)
        #expect(try await bench.send(#""data":{"message":"later"}"#).status == 200)
        #expect(try await bench.send(#""notification":{"body":"now"}"#).status == 200)
        #expect(bench.log.kinds == [.stored, .stored])
        bench.lab.setOnline(bench.phone)
        bench.lab.launch(bench.phone)
        #expect(bench.log.kinds == [.stored, .stored, .deferred, .delivered, .shown(text: "now")])
        bench.lab.setOffline(bench.phone)
        bench.lab.setFullPower(bench.phone)
        #expect(bench.lab.inbox(of: bench.phone).count == 1)
        bench.lab.setOnline(bench.phone)
        #expect(bench.lab.inbox(of: bench.phone).map(\.text) == ["now", "later"])
        #expect(bench.log.kinds.count { $0 == .deferred } == 1)
    }

    @Test func `waiting pushes are lost with the app, and the phone stays in low power`() async throws {
        let bench = WebPushBench()
        bench.lab.setLowPower(bench.phone)
        try await bench.send("for the old app")
        bench.lab.reinstall(bench.phone)
        #expect(bench.log.kinds == [.deferred, .dropped(reason: "the app was uninstalled")])
        #expect(bench.lab.isInLowPower(bench.phone))
        try await bench.send("for the new one")
        #expect(bench.items.isEmpty)
        bench.lab.setFullPower(bench.phone)
        #expect(!bench.lab.isInLowPower(bench.phone) && bench.items.map(\.text) == ["for the new one"])
    }
}
