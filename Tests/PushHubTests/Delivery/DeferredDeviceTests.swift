import Storage
import Support
import Synchronization
import Testing

@testable import PushHub
@testable import PushModel

/// Devices that a hook defers until a time.
@Suite struct DeferredDeviceTests {
    private let hooks = ScriptedHooks()
    private let bench: HubBench

    init() throws { bench = try HubBench(hooks: hooks) }

    private var reached: [DeviceHandle] { bench.connector.batches.flatMap(\.handles) }
    private static let ten = HubBench.startTime + .seconds(3600)
    private static let eleven = HubBench.startTime + .seconds(7200)

    private func hub(isConcurrent: Bool = true) async throws -> NotificationHub {
        try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: isConcurrent)))
    }

    /// Sends to phone 1 now, to 2 and 3 at ten and to 4 at eleven. All have the tag `a`.
    private func registerFour() async throws {
        for (number, tag) in [(1, "now"), (2, "ten"), (3, "ten"), (4, "eleven")] {
            try await bench.register(.phone(number), tags: ["a", tag])
        }
        let (ten, eleven) = (try Tag("ten"), try Tag("eleven"))
        hooks.beforeDelivering { group in
            _ = await group.rule([
                DeliveryRuling(devices: .tagged(ten), decision: .hold(until: Self.ten), plugin: "quiet", reason: "asleep"),
                DeliveryRuling(devices: .tagged(eleven), decision: .hold(until: Self.eleven), plugin: "quiet", reason: "late riser"),
            ])
        }
    }

    /// Returns once the notification waits for a time and nothing is in flight.
    private func untilHeld(_ id: String, _ hub: NotificationHub, total: Int) async throws {
        while true {
            let outcome = try await hub.outcome(of: id)
            if outcome.total == total, !outcome.notices.isEmpty, try await bench.store.notification(1)?.outcome.notices == outcome.notices {
                return try await bench.untilSomebodySleeps()
            }
            await Task.yield()
        }
    }

    private static let notices = [
        "2 devices wait until 2026-01-05T10:00:00.000Z: quiet: asleep",
        "1 device waits until 2026-01-05T11:00:00.000Z: quiet: late riser",
    ]

    // MARK: - Times

    @Test(arguments: [false, true])
    func `each device has its own time, and the notification ends with the last one`(isConcurrent: Bool) async throws {
        try await registerFour()
        hooks.listen()
        let hub = try await hub(isConcurrent: isConcurrent)
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld(id, hub, total: 1)
        let first = try await hub.outcome(of: id)
        #expect(first.state == .processing && first.counts == [.apns: [.success: 1]] && first.devices.map(\.handle) == [.phone(1)])
        #expect(first.notices.map(\.text) == Self.notices && first.startedAt == HubBench.startTime && first.endedAt == nil)
        #expect(try await hub.notification(id).outcome.state == .processing)
        // Nothing is in flight, and the notification does not count as scheduled.
        #expect(await hub.backlog == 0)
        #expect(try await hub.notifications(before: nil, limit: 10, isScheduled: true).isEmpty)
        bench.advance(by: .seconds(3600))
        try await untilHeld(id, hub, total: 3)
        #expect(try await hub.outcome(of: id).notices.map(\.text) == [Self.notices[1]])
        #expect(hooks.ended.isEmpty)
        await bench.settle()
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .completed && outcome.counts == [.apns: [.success: 4]] && outcome.notices.isEmpty)
        #expect(outcome.startedAt == HubBench.startTime && outcome.endedAt == Self.eleven)
        #expect(bench.connector.deliveries.map(\.time) == [HubBench.startTime, Self.ten, Self.eleven])
        #expect(reached == [.phone(1), .phone(2), .phone(3), .phone(4)])
        // The hook is not called for devices that have been sent to or have a later time.
        #expect(hooks.groups.map(\.count) == [4, 2, 1])
        #expect(hooks.ended.map(\.outcome) == [try #require(try await bench.store.notification(1)).outcome])
    }

    @Test(arguments: [false, true])
    func `a single decision defers each device until its time, even if the hook later decides nothing`(isNewProcess: Bool) async throws {
        try await registerFour()
        var hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld(id, hub, total: 1)
        hooks.beforeDelivering { _ in }
        if isNewProcess {
            await hub.stop()
            hub = try await self.hub()
            try await bench.untilSomebodySleeps()
            #expect(try await bench.store.notification(1)?.outcome.notices.map(\.text) == Self.notices)
        }
        await bench.settle()
        #expect(bench.connector.deliveries.map(\.time) == [HubBench.startTime, Self.ten, Self.eleven])
        #expect(try await hub.outcome(of: id).counts == [.apns: [.success: 4]])
        #expect(try await bench.store.notification(1)?.deferredDevices.isEmpty == true)
    }

    @Test func `deferrals are stored before other devices are sent to`() async throws {
        try await registerFour()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        bench.connector.during { _ in for await _ in gate {} }
        let first = try await hub()
        let id = try await first.accept(.alert(to: "a")).outcome.id
        try await until { !bench.connector.batches.isEmpty }
        #expect(try await bench.store.notification(1)?.deferredDevices.isEmpty == false)
        // As if the process had crashed here. The next process calls no hook.
        let stored = try #require(try await bench.store.notification(1))
        #expect(stored.outcome.counts.isEmpty)
        open.finish()
        await first.stop()
        hooks.beforeDelivering { _ in }
        let second = try await hub()
        await bench.settle()
        #expect(bench.connector.deliveries.map(\.time) == [HubBench.startTime, Self.ten, Self.eleven])
        #expect(try await second.outcome(of: id).counts == [.apns: [.success: 4]])
    }

    @Test(arguments: [false, true]) func `a new registration in the row of a removed one is not deferred in its place`(isNewProcess: Bool)
        async throws
    {
        let held = try await bench.register(.phone(1), tags: ["a", "eleven"])
        try await bench.register(.phone(2), tags: ["a", "ten"])
        let (ten, eleven) = (try Tag("ten"), try Tag("eleven"))
        hooks.beforeDelivering { group in
            _ = await group.rule([
                DeliveryRuling(devices: .tagged(ten), decision: .hold(until: Self.ten), plugin: "quiet", reason: "asleep"),
                DeliveryRuling(devices: .tagged(eleven), decision: .hold(until: Self.eleven), plugin: "quiet", reason: "late riser"),
            ])
        }
        var hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld(id, hub, total: 0)
        try await hub.deleteRegistration(held.id, ifMatch: nil)
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(3), tags: [try Tag("a")]))
        if isNewProcess {
            await hub.stop()
            hub = try await self.hub()
        }
        await bench.settle()
        #expect(
            bench.connector.deliveries.map(\.time) == [isNewProcess ? HubBench.startTime : Self.ten, Self.ten].suffix(isNewProcess ? 2 : 1))
        #expect(Set(reached) == [.phone(2), .phone(3)])
        #expect(try await hub.outcome(of: id).state == .completed)
    }

    @Test func `deferred devices are read back unchanged, and other bytes are rejected`() throws {
        var holds = DeferredDevices()
        for (row, platform) in Platform.delivered.enumerated() {
            let rows = (0...UInt32(row * 40)).map { $0 * $0 * 3_000 + UInt32(row) }
            holds.add(
                RowSet(rows), on: platform, until: Self.ten + .seconds(row),
                HookReason(plugin: "quiet", reason: "\u{1F634} \(row % 2)"))
            holds.add(RowSet([.max]), on: platform, until: Self.ten, HookReason(plugin: nil, reason: ""))
        }
        let bytes = holds.stored
        #expect(DeferredDevices(stored: bytes) == holds)
        #expect(DeferredDevices(stored: []) == DeferredDevices())
        for end in 1..<bytes.count where DeferredDevices(stored: Array(bytes[..<end]))?.stored == bytes {
            Issue.record("\(end) bytes are read as all")
        }
        for row in bytes.indices {
            var changed = bytes
            changed[row] ^= 0xff
            #expect(DeferredDevices(stored: changed) != holds)
        }
    }

    @Test func `if all devices are deferred nothing is lost, not even the start time`() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        try hooks.hold("a", until: Self.ten)
        let hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld(id, hub, total: 0)
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .processing && outcome.counts.isEmpty && outcome.startedAt == HubBench.startTime)
        #expect(outcome.notices.map(\.text) == ["1 device waits until 2026-01-05T10:00:00.000Z: quiet: at night"])
        await bench.settle()
        #expect(bench.connector.deliveries.map(\.time) == [Self.ten])
        #expect(try await hub.outcome(of: id).state == .completed)
    }

    @Test func `no device is deferred for more than seven days, or until a time in the past`() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(2), tags: ["b"])
        let (a, b) = (try Tag("a"), try Tag("b"))
        hooks.beforeDelivering { group in
            _ = await group.rule([
                DeliveryRuling(devices: .tagged(a), decision: .hold(until: .distantFuture), reason: "long"),
                DeliveryRuling(devices: .tagged(b), decision: .hold(until: HubBench.startTime), reason: "short"),
            ])
            // A time in the past defers no device, so later hooks still see the device.
            #expect(group.count == 1)
        }
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        try await untilHeld(id, hub, total: 1)
        #expect(try await hub.outcome(of: id).notices.map(\.text) == ["1 device waits until 2026-01-12T09:00:00.000Z: long"])
        hooks.beforeDelivering(nil)
        await bench.settle()
        #expect(bench.connector.deliveries.map(\.time) == [HubBench.startTime, HubBench.startTime + .seconds(7 * 86_400)])
        #expect(reached == [.phone(2), .phone(1)])
        #expect(try await hub.outcome(of: id).state == .completed)
    }

    @Test func `a device that passes is exempt from later decisions of the list, but not from other hooks`() async throws {
        for (number, tag) in [(1, "day"), (2, "night"), (3, "nowhere")] { try await bench.register(.phone(number), tags: ["a", tag]) }
        let day = try Tag("day")
        hooks.beforeDelivering { group in
            let counts = await group.rule([
                DeliveryRuling(devices: .tagged(day), decision: .pass, reason: ""),
                DeliveryRuling(devices: .all, decision: .hold(until: Self.ten), plugin: "quiet", reason: "asleep"),
            ])
            #expect(counts == [1, 2])
            #expect(group.count == 1)
            // A pass applies to its own list only.
            #expect(await group.rule([DeliveryRuling(devices: .all, decision: .skip, plugin: "cap", reason: "too many")]) == [1])
        }
        let hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld(id, hub, total: 1)
        #expect(reached == [])
        hooks.beforeDelivering(nil)
        await bench.settle()
        #expect(Set(reached) == [.phone(2), .phone(3)])
        #expect(try await hub.outcome(of: id).counts.values.first?[.skipped] == 1)
    }

    @Test func `of many times the first are reported, with the number of devices that wait longer`() async throws {
        for number in 1...15 { try await bench.register(.phone(number)) }
        hooks.beforeDelivering { group in
            for device in await group.devices(after: nil, limit: 100) {
                let time = Self.ten + .seconds(Int(device.number))
                _ = await group.rule([DeliveryRuling(devices: .chosen([device.number]), decision: .hold(until: time), reason: "one by one")]
                )
            }
        }
        let hub = try await hub()
        let outcome = try await hub.send(.alert())
        #expect(outcome.notices.count == 11 && outcome.notices.last?.text == "5 devices wait until later times")
        await bench.settle()
        #expect(bench.connector.deliveries.map(\.time) == (0..<15).map { Self.ten + .seconds($0) })
        #expect(try await hub.outcome(of: outcome.id).counts == [.apns: [.success: 15]])
    }

    // MARK: - When the time comes

    @Test func `deferrals continue after their hook was removed`() async throws {
        try await registerFour()
        let hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld(id, hub, total: 1)
        hooks.beforeDelivering(nil)
        await bench.settle()
        #expect(bench.connector.deliveries.map(\.time) == [HubBench.startTime, Self.ten, Self.eleven])
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .completed && outcome.sent == 4 && outcome.notices.isEmpty)
    }

    @Test func `a hook can decide again: skip, defer further, throw`() async throws {
        try await registerFour()
        let hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld(id, hub, total: 1)
        let ten = try Tag("ten")
        hooks.beforeDelivering { group in
            let devices = await group.devices(after: nil, limit: 1)
            _ = await group.rule([
                DeliveryRuling(devices: .chosen(devices.map(\.number)), decision: .skip, plugin: "quiet", reason: "too late"),
                DeliveryRuling(devices: .tagged(ten), decision: .hold(until: Self.eleven), plugin: "quiet", reason: "asleep"),
            ])
        }
        bench.advance(by: .seconds(3600))
        try await untilHeld(id, hub, total: 2)
        #expect(reached == [.phone(1)])
        #expect(
            try await hub.outcome(of: id).notices.map(\.text) == [
                "1 device waits until 2026-01-05T11:00:00.000Z: quiet: asleep", Self.notices[1],
            ])
        hooks.beforeDelivering { _ throws(PushError) in throw .veto }
        await bench.settle()
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .completed && outcome.counts == [.apns: [.success: 1, .skipped: 1, .abandoned: 2]])
        #expect(outcome.devices.map(\.explanation).suffix(1) == ["quiet: not on Sundays"])
    }

    @Test func `at the time, removed devices get nothing and new ones get the push`() async throws {
        let first = try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(2), tags: ["a"])
        try hooks.hold("a", until: Self.ten)
        let hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld(id, hub, total: 0)
        try await hub.deleteRegistration(first.id, ifMatch: nil)
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(3), tags: [try Tag("a")]))
        await bench.settle()
        #expect(Set(reached) == [.phone(2), .phone(3)] && reached.count == 2)
        #expect(try await hub.outcome(of: id).counts == [.apns: [.success: 2]])
    }

    @Test func `if all devices were removed meanwhile, the notification ends`() async throws {
        let first = try await bench.register(.phone(1), tags: ["a", "now"])
        let second = try await bench.register(.phone(2), tags: ["a", "ten"])
        try hooks.hold("ten", until: Self.ten)
        let hub = try await hub()
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await untilHeld(id, hub, total: 1)
        for registration in [first, second] { try await hub.deleteRegistration(registration.id, ifMatch: nil) }
        await bench.settle()
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .completed && outcome.counts == [.apns: [.success: 1]] && outcome.notices.isEmpty)
    }

    // MARK: - Expiring

    @Test(arguments: [false, true]) func `a deferred device whose notification expires is abandoned then`(isConcurrent: Bool) async throws {
        try await registerFour()
        let hub = try await hub(isConcurrent: isConcurrent)
        var request = try NotificationRequest.alert(to: "a")
        request.options.expiration = Self.ten + .seconds(60)
        let id = try await hub.accept(request).outcome.id
        await bench.settle()
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .completed && outcome.counts == [.apns: [.success: 3, .abandoned: 1]])
        #expect(outcome.endedAt == Self.ten + .seconds(60))
        #expect(outcome.devices.last?.reason == "Expired" && outcome.devices.last?.handle == .phone(4))
        #expect(hooks.groups.map(\.count) == [4, 2])
    }

    @Test func `a notification that expired while no process ran is not sent late`() async throws {
        try await registerFour()
        let hub = try await hub()
        var request = try NotificationRequest.alert(to: "a")
        request.options.expiration = Self.ten + .seconds(60)
        let id = try await hub.accept(request).outcome.id
        try await untilHeld(id, hub, total: 1)
        await hub.stop()
        bench.advance(by: .seconds(86_400))
        let again = try await self.hub()
        await bench.settle()
        #expect(reached == [.phone(1)])
        #expect(try await again.outcome(of: id).counts == [.apns: [.success: 1, .abandoned: 3]])
    }
}
