import Support
import Testing

@testable import PushHub
@testable import PushModel

/// Fan-outs with a failing push service, a pace or an expiration.
@Suite struct PacedDeliveryTests {
    private let bench: HubBench

    init() throws { bench = try HubBench() }

    private func send(_ request: NotificationRequest) async throws -> NotificationOutcome {
        let hub = bench.hub
        return try await bench.passingTime { try await hub.send(request) }
    }

    private var batches: [(millisecond: Int64, devices: Int)] {
        bench.connector.deliveries.map { (($0.time - HubBench.startTime).milliseconds, $0.batch.handles.count) }
    }

    // MARK: - Pace

    @Test(arguments: [("200/s", 200, "s"), ("1/m", 1, "m"), ("1000000000/h", 1_000_000_000, "h")])
    func `a pace is printed as it was written`(text: String, count: Int, unit: String) throws {
        let pace = try Pace(text)
        #expect(pace.count == count && pace.unit.rawValue == unit && pace.description == text)
    }

    @Test(arguments: ["", "200", "/s", "200/", "0/s", "-1/s", "+5/s", "2.5/s", "200/d", "200/s/s", " 200/s", "1000000001/s", "٢/s"])
    func `an invalid pace is rejected with an example`(text: String) {
        let error = #expect(throws: PushError.self) { try Pace(text) }
        #expect(error?.code == "send.pace" && error?.status == 400)
        #expect(error?.hint?.contains("200/s") == true)
    }

    @Test func `a pace spreads a notification evenly, in steps of a quarter second`() async throws {
        for number in 1...100 { try await bench.register(.phone(number)) }
        var request = try NotificationRequest.alert()
        request.pace = try Pace("80/s")
        let outcome = try await send(request)
        #expect(outcome.sent == 100)
        #expect(batches.map(\.millisecond) == [0, 250, 500, 750, 1000])
        #expect(batches.allSatisfy { $0.devices == 20 })
    }

    @Test func `a pace of less than one per quarter second sends to one device at a time`() async throws {
        for number in 1...3 { try await bench.register(.phone(number)) }
        var request = try NotificationRequest.alert()
        request.pace = try Pace("1/m")
        #expect(try await send(request).sent == 3)
        #expect(batches.map(\.millisecond) == [0, 60_000, 120_000])
    }

    @Test func `with a slow pace every device has its full retry window`() async throws {
        for number in 1...3 { try await bench.register(.phone(number)) }
        bench.connector.script(.phone(3), .transient(.busy, retryAfter: nil), .accepted(id: nil))
        var request = try NotificationRequest.alert()
        request.pace = try Pace("1/h")
        #expect(try await send(request).sent == 3)
        #expect(batches.map(\.millisecond) == [0, 3_600_000, 7_200_000, 10_800_000])
    }

    @Test func `devices that get a result without a push do not use up the pace`() async throws {
        for number in 1...100 { try await bench.register(.phone(number)) }
        var request = try NotificationRequest.alert()
        request.pace = try Pace("1/m")
        request.options.expiration = HubBench.startTime + .seconds(90)
        let outcome = try await send(request)
        #expect(outcome.sent == 2 && outcome.counts[.apns]?[.abandoned] == 98)
        #expect(outcome.endedAt == HubBench.startTime + .seconds(120))
    }

    @Test func `platforms share a pace`() async throws {
        for number in 1...40 { try await bench.register(number.isMultiple(of: 2) ? .phone(number) : .gcm(token: "t\(number)")) }
        var request = try NotificationRequest.alert()
        request.pace = try Pace("40/s")
        #expect(try await send(request).sent == 40)
        #expect(batches.map(\.millisecond) == [0, 250, 500, 750])
        #expect(batches.allSatisfy { $0.devices == 10 })
    }

    // MARK: - Expiration

    @Test func `a device whose turn comes after the expiration is abandoned, with the reason`() async throws {
        for number in 1...4 { try await bench.register(.phone(number)) }
        var request = try NotificationRequest.alert()
        request.pace = try Pace("1/s")
        request.options.expiration = HubBench.startTime + .seconds(2)
        let outcome = try await send(request)
        #expect(outcome.devices.map(\.outcome) == [.success, .success, .abandoned, .abandoned])
        #expect(outcome.devices[2].reason == "Expired")
    }

    @Test func `an expiration of now still allows one attempt`() async throws {
        try await bench.register(.phone(1))
        var request = try NotificationRequest.alert()
        request.options.expiration = HubBench.startTime
        #expect(try await send(request).sent == 1)
    }

    // MARK: - Failing push services

    @Test func `a service that does not answer is paused, then probed with one device, then gets the rest`() async throws {
        for number in 1...30 {
            try await bench.register(.phone(number))
            bench.connector.script(.phone(number), .transient(.busy, retryAfter: nil), .accepted(id: nil))
        }
        bench.connector.script(
            .phone(1), .transient(.busy, retryAfter: nil), .transient(.busy, retryAfter: nil), .accepted(id: nil))
        #expect(try await send(.alert()).sent == 30)
        #expect(batches.map(\.millisecond) == [0, 5000, 15_000, 15_000, 15_000])
        #expect(batches.map(\.devices) == [30, 1, 1, 1, 28])
        #expect(bench.notes(.delivery).contains { $0.hasPrefix("APNs does not respond") })
        #expect(bench.notes(.delivery).contains("APNs responds again"))
    }

    @Test(arguments: [false, true]) func `an open circuit of one service does not delay others`(isConcurrent: Bool) async throws {
        for number in 1...30 {
            try await bench.register(.phone(number))
            bench.connector.script(.phone(number), .transient(.busy, retryAfter: nil))
        }
        let hub = try await bench.reopened(
            HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: isConcurrent, retryWindow: .seconds(60))))
        let first = try await bench.passingTime { try await hub.send(.alert()) }
        #expect(first.counts == [.apns: [.pnsUnavailable: 30]])
        _ = try await hub.createRegistration(RegistrationDescription(handle: .gcm(token: "t")))
        let now = bench.clock.now
        let sending = Task { try await hub.send(.alert()) }
        // No time passes until then, also if this service's turn comes late.
        try await until { bench.connector.batches.contains { $0.platform == .gcm } }
        let second = try await bench.passingTime { try await sending.value }
        #expect(second.counts == [.apns: [.pnsUnavailable: 30], .gcm: [.success: 1]])
        #expect(bench.connector.deliveries.first { $0.batch.platform == .gcm }?.time == now)
    }

    @Test func `long retry delays of one service do not delay others`() async throws {
        for number in 1...30 {
            try await bench.register(.phone(number))
            bench.connector.script(.phone(number), .transient(.busy, retryAfter: .seconds(60)), .accepted(id: nil))
        }
        try await bench.register(.gcm(token: "t"))
        #expect(try await send(.alert()).sent == 31)
        let gcm = try #require(bench.connector.deliveries.first { $0.batch.platform == .gcm })
        #expect(gcm.time == HubBench.startTime)
    }

    @Test func `a service that rejects the credential is not asked for every device`() async throws {
        let refusal = Rejection(
            status: 403, reason: "InvalidProviderToken", explanation: "the key is not the team's", outcome: .invalidCredentials)
        for number in 1...600 {
            try await bench.register(.phone(number))
            bench.connector.script(.phone(number), .rejected(refusal))
        }
        let outcome = try await send(.alert())
        #expect(batches.map(\.devices) == [500])
        #expect(outcome.counts == [.apns: [.invalidCredentials: 600]])
        #expect(outcome.devices[599].reason == "InvalidProviderToken")
        #expect(outcome.devices[599].explanation.hasSuffix("so this one was not tried"))
        // The next notification asks it again.
        for number in 1...600 { bench.connector.script(.phone(number), .accepted(id: nil)) }
        #expect(try await send(.alert()).sent == 600)
    }

    @Test func `rejected headers end their own group only`() async throws {
        let refusal = Rejection(
            status: 400, reason: "TopicDisallowed", explanation: "another app's topic", outcome: .pnsInterfaceError, scope: .headers)
        for number in 1...600 {
            try await bench.register(.phone(number), template: #"{"aps":{"alert":"$(message)"}}"#)
            bench.connector.script(.phone(number), .rejected(refusal))
        }
        for number in 601...640 { try await bench.register(.phone(number), template: #"{"aps":{"alert":"News: $(message)"}}"#) }
        let outcome = try await send(.properties(["message": "Goal"]))
        #expect(outcome.counts == [.apns: [.pnsInterfaceError: 600, .success: 40]])
        #expect(batches.map(\.devices).sorted() == [40, 500])
    }
}
