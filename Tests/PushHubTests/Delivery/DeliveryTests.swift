import PushHub
import PushModel
import Support
import Testing

@Suite struct DeliveryTests {
    private let bench: HubBench

    init() throws { bench = try HubBench() }

    private func seconds(_ deliveries: [ScriptedConnector.ReceivedBatch]) -> [Int64] {
        deliveries.map { ($0.time - HubBench.startTime).components.seconds }
    }

    private func send(_ request: NotificationRequest) async throws -> NotificationOutcome {
        let hub = bench.hub
        return try await bench.passingTime { try await hub.send(request) }
    }

    // MARK: - Retries

    @Test("A temporary failure is retried after one, two, four seconds and so on, up to a minute, for half an hour") func backoff()
        async throws
    {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: nil))
        let outcome = try await send(.alert())
        let times = seconds(bench.connector.deliveries)
        #expect(times.prefix(8) == [0, 1, 3, 7, 15, 31, 63, 123])
        #expect(zip(times.dropFirst(7), times.dropFirst(8)).allSatisfy { $1 - $0 == 60 })
        #expect(times.last == 1743)
        #expect(outcome.state == .completed && outcome.failed == 1)
        #expect(outcome.devices[0].outcome == .pnsUnavailable && outcome.devices[0].reason == "ServiceUnavailable")
        #expect(!outcome.devices[0].isRegistrationRemoved)
        #expect(outcome.endedAt == HubBench.startTime + .seconds(1743))
    }

    @Test("Only rejected devices are retried, not before Retry-After") func retryAfter() async throws {
        for number in 1...3 { try await bench.register(.phone(number)) }
        bench.connector.script(
            .phone(2), .transient(.busy, retryAfter: .seconds(90)), .transient(.busy, retryAfter: .milliseconds(5)),
            .accepted(id: "late"))
        let outcome = try await send(.alert())
        #expect(seconds(bench.connector.deliveries) == [0, 90, 92])
        #expect(
            bench.connector.batches.map(\.handles) == [[.phone(1), .phone(2), .phone(3)], [.phone(2)], [.phone(2)]])
        #expect(outcome.sent == 3 && outcome.devices[1].pushID == "late")
        #expect(outcome.devices.map(\.handle) == [.phone(1), .phone(2), .phone(3)])
    }

    @Test("A failing service does not delay the others") func headOfLine() async throws {
        try await bench.register(.phone(1))
        try await bench.register(.gcm(token: "t"))
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: .seconds(600)), .accepted(id: nil))
        _ = try await send(.alert())
        #expect(bench.connector.batches.map(\.platform) == [.apns, .gcm, .apns])
        #expect(seconds(bench.connector.deliveries) == [0, 0, 600])
    }

    @Test("There is no attempt later than half an hour after the first") func halfAnHour() async throws {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: .seconds(1000)))
        _ = try await send(.alert())
        #expect(seconds(bench.connector.deliveries) == [0, 1000])
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: .seconds(1801)))
        _ = try await send(.alert())
        #expect(bench.connector.deliveries.count == 3)
    }

    @Test("An expired notification is not retried") func expiration() async throws {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: nil))
        var request = try NotificationRequest.alert()
        request.options.expiration = HubBench.startTime + .seconds(5)
        _ = try await send(request)
        #expect(seconds(bench.connector.deliveries) == [0, 1, 3])
    }

    @Test("A push that may have been delivered is sent once more") func unknown() async throws {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .unknown(reason: "ConnectionReset"), .accepted(id: "again"))
        let outcome = try await send(.alert())
        #expect(seconds(bench.connector.deliveries) == [0, 1])
        #expect(outcome.devices[0].outcome == .success && outcome.devices[0].pushID == "again")
    }

    @Test("If a push never gets an answer, it is unknown whether it was delivered") func unknownToTheEnd() async throws {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .unknown(reason: "ConnectionReset"))
        let outcome = try await send(.alert())
        #expect(outcome.devices[0].outcome == .pnsUnreachable && outcome.devices[0].reason == "ConnectionReset")
        #expect(outcome.endedAt == HubBench.startTime + .seconds(1743))
    }

    @Test("If a connector does not answer, the notification is abandoned") func silence() async throws {
        try await bench.register(.phone(1))
        bench.connector.fallSilent()
        let outcome = try await send(.alert())
        #expect(outcome.state == .abandoned)
        #expect(outcome.devices.map(\.outcome) == [.abandoned])
        #expect(outcome.devices[0].explanation == "the connector gave no answer")
    }

    @Test("A platform without a connector fails for its devices") func noConnector() async throws {
        let bench = try HubBench(platforms: [.apns])
        try await bench.register(.phone(1))
        try await bench.register(.gcm(token: "t"))
        let outcome = try await bench.send(to: nil)
        #expect(outcome.devices.map(\.outcome) == [.success, .invalidCredentials])
        #expect(outcome.devices[1].reason == "NoConnector")
        #expect(outcome.devices[1].explanation == "the hub has no credentials for GCM")
    }

    @Test("The state of a notification in progress is Processing") func processing() async throws {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: nil), .accepted(id: nil))
        let hub = bench.hub
        let task = Task { try await hub.send(.alert()) }
        try await bench.untilSomebodySleeps()
        #expect(try await hub.outcome(of: "n-0001").state == .processing)
        #expect(bench.clock.advanceToNextDeadline())
        #expect(try await task.value.state == .completed)
    }

    // MARK: - Feedback

    @Test("An invalid token is removed from the hub, and the error for its id has the reason") func dead() async throws {
        let registration = try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(2), tags: ["a"])
        bench.connector.script(.phone(1), .rejected(.invalidHandle()))
        let outcome = try await bench.send(to: "a")
        #expect(outcome.devices.map(\.isRegistrationRemoved) == [true, false])
        #expect(outcome.devices[0].outcome == .expiredChannel && outcome.devices[0].reason == "Unregistered")
        #expect(bench.notes(.feedback) == ["registration \(registration.id) removed: Unregistered"])
        #expect(try await bench.send(to: "a").devices.map(\.handle) == [.phone(2)])
        let error = await refusal {
            try await bench.hub.putRegistration(
                registration.id, RegistrationDescription(handle: .phone(1)), ifMatch: nil)
        }
        #expect(error?.code == "hub.gone")
        #expect(error?.message == "registration id \(registration.id) was removed: APNs answered Unregistered")
    }

    @Test("A rejection for another reason than the token removes nothing") func alive() async throws {
        let registration = try await bench.register(.phone(1))
        bench.connector.script(
            .phone(1),
            .rejected(Rejection(status: 400, reason: "PayloadEmpty", explanation: "", outcome: .pnsInterfaceError)))
        #expect(try await bench.send(to: nil).failed == 1)
        #expect(try await bench.hub.registration(registration.id) == registration)
    }

    @Test("All registrations of an invalid token are removed, even those that the send did not address") func everything() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(1), tags: ["b"], template: #"{"a":"$(b)"}"#)
        try await bench.register(.phone(2), tags: ["b"])
        bench.connector.script(.phone(1), .rejected(.invalidHandle()))
        let outcome = try await bench.send(to: "a")
        #expect(outcome.devices.map(\.outcome) == [.expiredChannel, .skipped])
        #expect(outcome.devices.map(\.isRegistrationRemoved) == [true, true])
        #expect(try await bench.hub.registrations(.all, page: Page()).registrations.map(\.handle) == [.phone(2)])
    }

    @Test("A direct send to an invalid token removes its registrations too") func direct() async throws {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .rejected(.invalidHandle()))
        let request = NotificationRequest(
            audience: .device(.phone(1)), content: try NotificationRequest.alert().content)
        #expect(try await bench.hub.send(request).devices.map(\.isRegistrationRemoved) == [true])
        #expect(try await bench.hub.send(request).devices.map(\.isRegistrationRemoved) == [false])
        #expect(try await bench.send(to: nil).state == .noTargetFound)
    }

    @Test("A token that was registered after it became invalid is not removed") func registeredAfterDeath() async throws {
        bench.connector.script(.phone(1), .rejected(.invalidHandle(since: HubBench.startTime + .seconds(10))))
        bench.advance(by: .seconds(11))
        let registration = try await bench.register(.phone(1))
        #expect(try await bench.send(to: nil).devices.map(\.isRegistrationRemoved) == [false])
        #expect(try await bench.hub.registration(registration.id) == registration)
    }

    @Test("A token that became invalid after it was registered is removed") func diedAfterRegistration() async throws {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .rejected(.invalidHandle(since: HubBench.startTime + .seconds(10))))
        bench.advance(by: .seconds(11))
        #expect(try await bench.send(to: nil).devices.map(\.isRegistrationRemoved) == [true])
    }

    @Test("A registration that is renewed or moved during the send is not removed") func renewedMeanwhile()
        async throws
    {
        let renewed = try await bench.register(.phone(1)).id
        let moved = try await bench.register(.phone(2)).id
        let deleted = try await bench.register(.phone(3)).id
        for number in 1...3 { bench.connector.script(.phone(number), .rejected(.invalidHandle())) }
        let (hub, clock) = (bench.hub, bench.clock)
        bench.connector.during { _ in
            clock.advance(to: HubBench.startTime + .seconds(1))
            _ = try? await hub.putRegistration(renewed, RegistrationDescription(handle: .phone(1)), ifMatch: nil)
            _ = try? await hub.putRegistration(moved, RegistrationDescription(handle: .phone(4)), ifMatch: nil)
            try? await hub.deleteRegistration(deleted, ifMatch: nil)
        }
        let outcome = try await bench.send(to: nil)
        #expect(outcome.devices.map(\.isRegistrationRemoved) == [false, false, false])
        #expect(try await hub.registrations(.all, page: Page()).registrations.map(\.id) == [renewed, moved])
    }
}
