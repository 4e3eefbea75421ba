import HTTPTypes
import Simulators
import Testing

@Suite struct FaultTests {
    let bench = APNsBench()

    private func verdicts(_ count: Int) async throws -> [String] {
        var verdicts: [String] = []
        for _ in 0..<count { verdicts.append(try await bench.verdict()) }
        return verdicts
    }

    @Test func `refusals are used up in the order in which they were requested`() async throws {
        #expect(bench.simulator.fail("TooManyRequests", count: 2))
        #expect(bench.simulator.fail("Shutdown", count: 1))
        #expect(bench.simulator.fail("BadTopic", count: 0))
        #expect(bench.simulator.fail("BadTopic", count: -1))
        #expect(
            try await verdicts(4) == ["429 TooManyRequests", "429 TooManyRequests", "503 Shutdown", "200"])
    }

    @Test func `a refusal without a count lasts until it is cleared, and applies after those with one`() async throws {
        #expect(bench.simulator.fail("ServiceUnavailable", count: nil))
        #expect(bench.simulator.fail("Shutdown", count: 1))
        #expect(try await verdicts(3) == ["503 Shutdown", "503 ServiceUnavailable", "503 ServiceUnavailable"])
        #expect(bench.simulator.fail("InternalServerError", count: nil))
        #expect(try await verdicts(2) == ["500 InternalServerError", "500 InternalServerError"])
        bench.simulator.clearFaults()
        #expect(try await verdicts(1) == ["200"])
    }

    @Test func `a refusal for one handle does not affect others, and applies before one for all`() async throws {
        let bob = bench.lab.addPhone(PhoneDescription(name: "bob", platform: .apns, app: PhoneApp(APNsBench.topic)))
        let token = try #require(bench.lab.pushHandle(of: bob))
        func other() async throws -> String { try await bench.verdict { $0.path = "/3/device/\(token)" } }
        #expect(bench.simulator.fail("Shutdown", count: nil, handle: token))
        #expect(try await verdicts(1) == ["200"])
        #expect(try await other() == "503 Shutdown")
        #expect(bench.simulator.fail("ServiceUnavailable", count: nil))
        #expect(try await other() == "503 Shutdown")
        #expect(try await verdicts(1) == ["503 ServiceUnavailable"])
        #expect(bench.simulator.fail("TooManyRequests", count: 1, handle: token))
        #expect(try await verdicts(1) == ["503 ServiceUnavailable"])
        #expect(try await other() == "429 TooManyRequests")
        #expect(try await other() == "503 Shutdown")
    }

    @Test func `an invalid request uses up no fault`() async throws {
        #expect(bench.simulator.fail("Shutdown", count: 1))
        #expect(try await bench.verdict { $0.set("apns-topic", nil) } == "400 MissingTopic")
        #expect(try await verdicts(2) == ["503 Shutdown", "200"])
    }

    @Test(arguments: ["Unregistered", "ExpiredToken"])
    func `the answer for an invalid token has the time when it became invalid`(word: String) async throws {
        #expect(bench.simulator.fail(word, count: 1))
        let reply = try await bench.send()
        #expect(reply.status == 410)
        #expect(reply.member("timestamp") == String(bench.time.now))
    }

    @Test func `an unknown reason creates no fault`() async throws {
        #expect(!bench.simulator.fail("unregistered", count: nil))
        #expect(!bench.simulator.fail("", count: nil))
        #expect(try await verdicts(1) == ["200"])
    }

    @Test func `an unregistered token of FCM is distinguished from a wrong path`() async throws {
        let bench = FCMBench()
        #expect(bench.simulator.fail("UNREGISTERED", count: 1, handle: bench.handle))
        #expect(try await bench.send(target: #""topic":"news""#).kind == "200")
        #expect(try await bench.send().kind == "404 NOT_FOUND fcm:UNREGISTERED")
        #expect(try await bench.send().kind == "200")
    }

    @Test(
        arguments: [
            ("dropped", "dropped", "connected"), ("disconnected", "dropped", "disconnected"),
            ("channelthrottled", "channelthrottled", "connected"),
        ])
    func `when WNS answers 200 without delivering, the headers say so`(word: String, result: String, link: String) async throws {
        let bench = WNSBench()
        #expect(bench.simulator.fail(word, count: 1))
        let reply = try await bench.send { $0.set("x-wns-requestforstatus", "true") }
        #expect(reply.status == 200)
        #expect(reply["x-wns-status"] == result)
        #expect(reply["x-wns-deviceconnectionstatus"] == link)
        #expect(bench.lab.inbox(of: bench.phone).isEmpty)
    }

    @Test(arguments: [("ChannelExpired", 410), ("ChannelNotFound", 404), ("DomainBlocked", 410), ("BadRequest", 400)])
    func `other reasons of WNS have a status and a description`(word: String, status: Int) async throws {
        let bench = WNSBench()
        #expect(bench.simulator.fail(word, count: 1, handle: bench.lab.pushHandle(of: bench.phone)))
        let reply = try await bench.send()
        #expect(reply.status == status)
        #expect(reply["x-wns-error-description"]?.isEmpty == false)
        #expect(try await bench.send().status == 200)
    }
}
