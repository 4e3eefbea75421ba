import PushHub
import PushModel
import Support
import Testing

@Suite struct TestSendTests {
    private func bench(devices: Int, seed: UInt64 = 1) async throws -> HubBench {
        let bench = try HubBench(seed: seed)
        for number in 0..<devices { try await bench.register(.phone(number), tags: ["a"]) }
        return bench
    }

    private func request(_ expression: String? = "a") throws -> NotificationRequest {
        var request = try NotificationRequest.alert(to: expression)
        request.isTest = true
        return request
    }

    @Test func `A test send reaches ten of the matching devices, once each, in the order of registration`() async throws {
        let bench = try await bench(devices: 40)
        let outcome = try await bench.hub.send(try request())
        #expect(outcome.state == .detailedStateAvailable && outcome.state.rawValue == "DetailedStateAvailable")
        #expect(outcome.sent == 10)
        let handles = outcome.devices.map(\.handle)
        #expect(Set(handles).count == 10)
        #expect(handles == (0..<40).map { .phone($0) }.filter(handles.contains))
        #expect(bench.connector.batches.flatMap(\.handles) == handles)
        #expect(try await bench.hub.outcome(of: outcome.id) == outcome)
        #expect(bench.notes(.audience) == ["n-0001: 40 registrations match, 40 can receive this"])
    }

    @Test func `The devices are chosen at random: over time all of them, and the same ones for the same seed`() async throws {
        func chosen(_ seed: UInt64) async throws -> [[DeviceHandle]] {
            let bench = try await bench(devices: 25, seed: seed)
            var chosen: [[DeviceHandle]] = []
            for _ in 0..<30 { chosen.append(try await bench.hub.send(try request()).devices.map(\.handle)) }
            return chosen
        }
        let first = try await chosen(1)
        #expect(Set(first.joined()).count == 25)
        #expect(try await chosen(1) == first)
        #expect(try await chosen(2) != first)
    }

    @Test func `Up to ten devices are all reached, without a random choice`() async throws {
        let bench = try await bench(devices: 10)
        try await bench.register(.phone(3), tags: ["a"])
        let outcome = try await bench.hub.send(try request())
        #expect(outcome.devices.map(\.outcome) == Array(repeating: .success, count: 10) + [.skipped])
        let fresh = try HubBench()
        for _ in 0..<11 { _ = await fresh.hub.createRegistrationID() }
        #expect(await bench.hub.createRegistrationID() == fresh.hub.createRegistrationID())
    }

    @Test func `Template registrations and a single device accept it too`() async throws {
        let bench = try HubBench()
        for number in 0..<30 {
            try await bench.register(.phone(number), tags: ["a"], template: #"{"aps":{"alert":"$(m)"}}"#)
        }
        var template = try NotificationRequest.properties(["m": "x"], to: "a")
        template.isTest = true
        #expect(try await bench.hub.send(template).sent == 10)
        let direct = NotificationRequest(
            audience: .device(.phone(99)), content: .native(AlertPayloads.system(title: nil, text: "Hi")), isTest: true)
        let outcome = try await bench.hub.send(direct)
        #expect(outcome.sent == 1 && outcome.state == .detailedStateAvailable)
    }

    @Test func `A test send returns the first verdicts, whatever retry delay a service asks for`() async throws {
        let bench = try await bench(devices: 2)
        let busy = Rejection(status: 503, reason: "ServiceUnavailable", explanation: "busy", outcome: .pnsUnavailable)
        bench.connector.script(.phone(0), .transient(busy, retryAfter: .seconds(600)), .accepted(id: "again"))
        let outcome = try await bench.hub.send(try request())
        #expect(outcome.devices.map(\.outcome) == [.pnsUnavailable, .success])
        #expect(bench.connector.batches.count == 1)
    }

    @Test func `Otherwise it works like a send: errors, feedback, no target`() async throws {
        let bench = try await bench(devices: 11)
        let empty = NotificationRequest(audience: .everyone, content: .native([:]), isTest: true)
        #expect(await refusal { try await bench.hub.send(empty) }?.code == "payload.empty")
        for number in 0..<11 { bench.connector.script(.phone(number), .rejected(.invalidHandle())) }
        let outcome = try await bench.hub.send(try request())
        #expect(outcome.failed == 10 && outcome.devices.allSatisfy(\.isRegistrationRemoved))
        #expect(try await bench.hub.registrations(.all, page: Page()).registrations.count == 1)
        let nobody = try await bench.hub.send(try request("sports"))
        #expect(nobody.state == .noTargetFound && !nobody.nearMisses.isEmpty)
        bench.connector.fallSilent()
        #expect(try await bench.hub.send(try request()).state == .abandoned)
    }
}
