import PushHub
import PushModel
import Storage
import Support
import Synchronization
import Testing

/// What can happen to a notification while some of its devices are deferred.
@Suite struct DeferredNotificationTests {
    private let hooks = ScriptedHooks()
    private let bench: HubBench

    init() throws { bench = try HubBench(hooks: hooks) }

    private var reached: [DeviceHandle] { bench.connector.batches.flatMap(\.handles) }
    private static let ten = HubBench.startTime + .seconds(3600)

    private func hub() async throws -> NotificationHub {
        try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true)))
    }

    /// Sends to phone 1 now, and to 2 and 3 at ten.
    private func registerThree() async throws {
        for (number, tag) in [(1, "now"), (2, "ten"), (3, "ten")] { try await bench.register(.phone(number), tags: ["a", tag]) }
        try hooks.hold("ten", until: Self.ten)
    }

    private func untilHeld(_ sequence: Int64 = 1) async throws {
        try await until { try await bench.store.notification(sequence)?.outcome.notices.isEmpty == false }
        try await bench.untilSomebodySleeps()
    }

    private func held(_ hub: NotificationHub) async throws -> String {
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld()
        return id
    }

    // MARK: - Restarts

    @Test func `the origin of a notification survives a restart`() async throws {
        try await registerThree()
        hooks.listen()
        let first = try await hub()
        try await HookOrigin.$plugins.withValue(["digest", "audit"]) { _ = try await held(first) }
        let scheduled = try await HookOrigin.$plugins.withValue(["weekly"]) {
            try await first.accept(.alert(to: "a"), at: Self.ten).outcome.id
        }
        await first.stop()
        let second = try await hub()
        try await untilHeld()
        try await second.cancel(notification: scheduled)
        await bench.settle()
        #expect(hooks.groups.allSatisfy { $0.origin == ["digest", "audit"] } && hooks.groups.count >= 2)
        #expect(hooks.ended.map(\.origin) == [["weekly"], ["digest", "audit"]])
        await second.stop()
    }

    @Test func `deferred devices survive restarts, and none is sent to twice`() async throws {
        try await registerThree()
        let first = try await hub()
        let id = try await held(first)
        await first.stop()
        // The hook would not defer them any more.
        hooks.beforeDelivering(nil)
        let second = try await hub()
        try await bench.untilSomebodySleeps()
        #expect(try await second.outcome(of: id).state == .processing && reached == [.phone(1)])
        await second.stop()
        bench.advance(by: .seconds(4000))
        let third = try await hub()
        await bench.settle()
        #expect(reached == [.phone(1), .phone(2), .phone(3)])
        let outcome = try await third.outcome(of: id)
        #expect(outcome.state == .completed && outcome.counts == [.apns: [.success: 3]] && outcome.devices.count == 3)
    }

    @Test func `a shutdown does not end a deferral early`() async throws {
        try await registerThree()
        let hub = try await hub()
        let id = try await held(hub)
        await hub.stop()
        await bench.settle()
        #expect(reached == [.phone(1)])
        #expect(try await bench.store.notification(1)?.outcome.state == .processing)
        #expect(try await hub.finish(id).counts == [.apns: [.success: 1]])
    }

    @Test func `a shutdown while a hook is called ignores its decisions`() async throws {
        try await registerThree()
        hooks.beforeDelivering { group throws(PushError) in
            _ = await group.rule([DeliveryRuling(devices: .all, decision: .skip, reason: "hurried")])
            while !Task.isCancelled { await Task.yield() }
            throw .veto
        }
        let hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await until { !hooks.groups.isEmpty }
        await hub.stop()
        hooks.beforeDelivering { _ in }
        let again = try await self.hub()
        await bench.settle()
        #expect(try await again.outcome(of: id).counts == [.apns: [.success: 3]])
    }

    // MARK: - Cancelling

    @Test func `cancelled while deferred: devices already reached count as sent, and the others as abandoned`() async throws {
        try await registerThree()
        hooks.listen()
        let hub = try await hub()
        let id = try await held(hub)
        try await hub.cancel(notification: id)
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .canceled && outcome.counts == [.apns: [.success: 1, .abandoned: 2]])
        #expect(outcome.devices.map(\.handle) == [.phone(1), .phone(2), .phone(3)] && outcome.notices.isEmpty)
        #expect(outcome.devices.last?.explanation == "the delivery was cancelled" && outcome.endedAt == HubBench.startTime)
        await bench.settle()
        #expect(reached == [.phone(1)] && hooks.groups.count == 1 && bench.clock.now == HubBench.startTime)
        #expect(hooks.ended.map(\.outcome.state) == [.canceled] && hooks.ended.first?.outcome.counts == outcome.counts)
        #expect(await refusal { try await hub.cancel(notification: id) }?.code == "notification.not_found")
    }

    @Test func `cancelled while others are in flight: deferred devices are abandoned too`() async throws {
        try await registerThree()
        for number in 4...6 { try await bench.register(.phone(number), tags: ["a"]) }
        try await bench.register(.phone(3), tags: ["a"])
        let hub = try await hub()
        var request = try NotificationRequest.alert(to: "a")
        request.pace = try Pace("1/m")
        let id = try await hub.accept(request).outcome.id
        try await bench.untilSomebodySleeps()
        try await hub.cancel(notification: id)
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .canceled && outcome.counts == [.apns: [.success: 1, .abandoned: 5, .skipped: 1]])
        #expect(outcome.devices.count == 7)
    }

    @Test func `if the end of a cancelled notification cannot be stored, the cancellation fails`() async throws {
        try await registerThree()
        let hub = try await hub()
        let id = try await held(hub)
        bench.store.refuse([.record])
        let stop = Task { try await hub.cancel(notification: id) }
        try await until { try await hub.outcome(of: id).state == .canceled }
        #expect(try await bench.store.notification(1)?.outcome.state == .processing)
        bench.store.refuse([])
        await bench.settle()
        try await stop.value
        #expect(try await bench.store.notification(1)?.outcome.counts == [.apns: [.success: 1, .abandoned: 2]])
    }

    @Test func `a wait whose task is cancelled counts as a cancellation, and loses no device`() async throws {
        let store = MemoryHubStore()
        let clock = VirtualClock(now: HubBench.startTime)
        let hub = NotificationHub(
            environment: HubEnvironment(
                clock: clock, random: SeededRandom(seed: 1),
                start: { work in
                    let task = Task { await work() }
                    task.cancel()
                    return task
                }, hooks: hooks), connectors: [ScriptedConnector(clock: clock)], store: store)
        for (number, tag) in [(1, "now"), (2, "ten")] {
            _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(number), tags: [try Tag(tag)]))
        }
        try hooks.hold("ten", until: Self.ten)
        let id = try await hub.send(.alert()).id
        try await until { try await hub.outcome(of: id).state != .processing }
        let outcome = try await hub.finish(id)
        #expect(outcome.state == .canceled && outcome.counts == [.apns: [.success: 1, .abandoned: 1]])
    }

    // MARK: - Waiting for the end

    @Test func `waiting for the end returns the current outcome as soon as only deferred devices are left`() async throws {
        try await registerThree()
        let hub = try await hub()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        bench.connector.during { _ in for await _ in gate {} }
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        let early = Task { try await hub.finish(id) }
        try await until { !bench.connector.batches.isEmpty }
        for _ in 1...100 { await Task.yield() }
        open.finish()
        let outcome = try await early.value
        #expect(outcome.state == .processing && outcome.sent == 1 && outcome.notices.count == 1)
        #expect(try await hub.finish(id) == outcome)
        bench.advance(by: .seconds(3600))
        await bench.settle()
        #expect(try await hub.finish(id).counts == [.apns: [.success: 3]])
    }

    @Test func `a send returns the devices reached, with a notice about the deferred ones`() async throws {
        try await registerThree()
        hooks.listen()
        let outcome = try await bench.hub.send(.alert(to: "a"))
        #expect(outcome.state == .processing && outcome.devices.map(\.handle) == [.phone(1)] && outcome.counts == [.apns: [.success: 1]])
        #expect(outcome.notices.map(\.text) == ["2 devices wait until 2026-01-05T10:00:00.000Z: quiet: at night"])
        #expect(try await bench.hub.outcome(of: outcome.id) == outcome)
        await bench.settle()
        let end = try await bench.hub.outcome(of: outcome.id)
        #expect(end.state == .completed && end.counts == [.apns: [.success: 3]] && end.devices.count == 3)
        #expect(hooks.ended.map(\.outcome.counts) == [end.counts])
    }

    @Test func `if that outcome cannot be stored at once it is stored later, and the deferral continues`() async throws {
        try await registerThree()
        bench.store.refuse([.record])
        let id = try await bench.hub.send(.alert(to: "a")).id
        #expect(try await bench.hub.outcome(of: id).state == .processing)
        bench.store.refuse([])
        await bench.settle()
        #expect(try await bench.hub.outcome(of: id).counts == [.apns: [.success: 3]])
        #expect(reached.count == 3)
    }

    @Test func `a test send defers no device and reports which ones would be deferred`() async throws {
        try await registerThree()
        var request = try NotificationRequest.alert(to: "a")
        request.isTest = true
        let outcome = try await bench.hub.send(request)
        #expect(outcome.state == .detailedStateAvailable && outcome.counts == [.apns: [.success: 1, .skipped: 2]])
        #expect(outcome.devices.last?.explanation == "quiet: at night" && outcome.notices.isEmpty)
        await bench.settle()
        #expect(bench.clock.now == HubBench.startTime)
    }

    // MARK: - Duplicates and handles

    @Test(arguments: [0, 1, 2]) func `registrations with one handle are deferred together and get one push`(leavers: Int) async throws {
        var duplicates: [Registration] = []
        for tag in ["ten", "now"] { duplicates.append(try await bench.register(.phone(1), tags: ["a", tag])) }
        try await bench.register(.phone(2), tags: ["a"])
        try hooks.hold("ten", until: Self.ten)
        let hub = try await hub()
        let id = try await held(hub)
        #expect(reached == [.phone(2)])
        #expect(try await hub.outcome(of: id).counts == [.apns: [.success: 1]])
        for duplicate in duplicates.prefix(leavers) { try await hub.deleteRegistration(duplicate.id, ifMatch: nil) }
        await bench.settle()
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .completed && reached == (leavers == 2 ? [.phone(2)] : [.phone(2), .phone(1)]))
        #expect(
            outcome.counts
                == [.apns: leavers == 0 ? [.success: 2, .skipped: 1] : leavers == 1 ? [.success: 2] : [.success: 1]])
    }

    @Test func `a deferred handle that is named twice gets one push and two results`() async throws {
        hooks.beforeDelivering { group in
            _ = await group.rule([DeliveryRuling(devices: .chosen([0]), decision: .hold(until: Self.ten), reason: "later")])
        }
        let handles = [1, 1, 2, 2].map { DeviceHandle.phone($0) }
        let request = NotificationRequest(
            audience: .devices(handles), content: .native(AlertPayloads.system(title: nil, text: "Hi")))
        let hub = try await hub()
        let id = try await hub.accept(request).outcome.id
        try await untilHeld()
        #expect(reached == [.phone(2)])
        hooks.beforeDelivering(nil)
        await bench.settle()
        #expect(reached == [.phone(2), .phone(1)])
        #expect(try await hub.outcome(of: id).counts == [.apns: [.success: 2, .skipped: 2]])
    }

    // MARK: - With failing push services

    @Test func `a deferred device is sent to at its time, even if a push service has deferred others`() async throws {
        try await registerThree()
        try await bench.register(.fcmV1(token: "f"), tags: ["a"])
        let ten = HubBench.startTime + .seconds(60)
        try hooks.hold("ten", until: ten)
        bench.connector.script(.fcmV1(token: "f"), .transient(.tooMany, retryAfter: .seconds(600)), .accepted(id: "late"))
        let hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        await bench.settle()
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .completed && outcome.counts == [.apns: [.success: 3], .fcmV1: [.success: 1]])
        let held = bench.connector.deliveries.filter { $0.batch.handles.contains(.phone(2)) }
        #expect(held.map(\.time) == [ten] && outcome.notices.isEmpty)
    }

    @Test func `a deferred device has the full retry window`() async throws {
        try await registerThree()
        bench.connector.script(.phone(2), .transient(.busy, retryAfter: nil), .accepted(id: "late"))
        let hub = try await hub()
        let id = try await held(hub)
        await bench.settle()
        #expect(try await hub.outcome(of: id).counts == [.apns: [.success: 3]])
        #expect(reached.filter { $0 == .phone(2) }.count == 2)
    }

    @Test func `the slot is free while only deferred devices are left`() async throws {
        try await registerThree()
        let hub = try await bench.reopened(HubSettings(limits: HubSettings.Limits(concurrentNotifications: 1)))
        let first = try await hub.accept(.alert("first", to: "ten")).outcome.id
        try await untilHeld()
        let second = try await hub.accept(.alert("second", to: "now")).outcome.id
        #expect(try await hub.finish(second).sent == 1)
        #expect(try await hub.outcome(of: first).state == .processing && bench.clock.now == HubBench.startTime)
        await bench.settle()
        #expect(try await hub.outcome(of: first).sent == 2)
    }
}
