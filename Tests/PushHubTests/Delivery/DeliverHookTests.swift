import PushHub
import PushModel
import Support
import Synchronization
import Testing

/// What hooks see of the devices of a notification, and which devices they skip.
@Suite struct DeliverHookTests {
    private let hooks = ScriptedHooks()
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }
    private var reached: [DeviceHandle] { bench.connector.batches.flatMap(\.handles) }

    init() throws { bench = try HubBench(hooks: hooks) }

    /// Skips every device with a tag.
    private func skip(_ tag: String, by plugin: String? = "quiet", because reason: String = "not on Sundays") throws {
        let tag = try Tag(tag)
        hooks.beforeDelivering { group in
            _ = await group.rule([DeliveryRuling(devices: .tagged(tag), decision: .skip, plugin: plugin, reason: reason)])
        }
    }

    private func phones(_ range: ClosedRange<Int>, tags: (Int) -> [String] = { _ in ["a"] }) async throws {
        for number in range { try await bench.register(.phone(number), tags: tags(number)) }
    }

    @Test(arguments: [false, true])
    func `a device that a hook skips has that outcome, and is not sent to`(isConcurrent: Bool) async throws {
        try await phones(1...5) { $0 % 2 == 0 ? ["a", "quiet"] : ["a"] }
        try skip("quiet")
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: isConcurrent)))
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        await bench.settle()
        let outcome = try await hub.outcome(of: id)
        #expect(reached == [.phone(1), .phone(3), .phone(5)])
        #expect(outcome.state == .completed && outcome.counts == [.apns: [.success: 3, .skipped: 2]] && outcome.failed == 0)
        let skipped = outcome.devices.filter { $0.outcome == .skipped }
        #expect(skipped.map(\.handle) == [.phone(2), .phone(4)] && skipped.allSatisfy { $0.registrationID != nil })
        #expect(skipped.allSatisfy { $0.reason == "Hook" && $0.explanation == "quiet: not on Sundays" && !$0.isRegistrationRemoved })
        #expect(hooks.groups == [ScriptedHooks.Group(id: id, platform: .apns, count: 5)])
    }

    @Test func `of a long reason the beginning is stored for each device`() async throws {
        try await phones(1...1)
        let long = String(repeating: "é", count: 301)
        try skip("a", by: nil, because: long)
        let outcome = try await hub.send(.alert())
        #expect(outcome.devices.map(\.explanation) == [String(repeating: "é", count: 299) + "…"])
        try skip("a", by: nil, because: String(long.dropLast()))
        #expect(try await hub.send(.alert()).devices.map(\.explanation) == [String(long.dropLast())])
    }

    @Test func `if all devices are skipped, the notification is completed`() async throws {
        try await phones(1...3)
        try skip("a")
        let outcome = try await hub.send(.alert())
        #expect(outcome.state == .completed && outcome.counts == [.apns: [.skipped: 3]] && reached.isEmpty)
        #expect(try await hub.outcome(of: outcome.id) == outcome)
    }

    @Test func `a hook is called once for each platform, whatever the content of the devices`() async throws {
        try await bench.register(.fcmV1(token: "f"), template: #"{"message":{"data":{"x":"$(m)"}}}"#)
        try await bench.register(.phone(1), template: #"{"aps":{"alert":"$(m)"}}"#)
        try await bench.register(.phone(2), template: #"{"aps":{"alert":"two $(m)"}}"#)
        try await bench.register(.phone(3), template: #"{"aps":{"alert":"$(m)"}}"#)
        hooks.beforeDelivering { _ in }
        let outcome = try await hub.send(.properties(["m": "x"]))
        #expect(outcome.sent == 4)
        #expect(hooks.groups.map(\.platform) == [.fcmV1, .apns] && hooks.groups.map(\.count) == [1, 3])
    }

    @Test func `a hook can count devices by their tags and read them page by page`() async throws {
        try await phones(1...5) { ["a", $0 < 4 ? "few" : "rest", "p\($0)"] }
        try await bench.register(.fcmV1(token: "f"), tags: ["a", "few"])
        let deleted = try await bench.register(.phone(6), tags: ["a", "few"])
        try await hub.deleteRegistration(deleted.id, ifMatch: nil)
        let tags = try ["few", "rest", "a", "nobody", "P2"].map { try Tag($0) }
        let counts = Mutex<[[Int]]>([])
        let pages = Mutex<[[String]]>([])
        hooks.beforeDelivering { group in
            guard group.platform == .apns else { return }
            #expect(!group.isDirect && group.count == 5)
            let first = await group.counts(of: tags)
            var number: UInt32?
            while true {
                let page = await group.devices(after: number, limit: 2)
                guard let last = page.last else { break }
                pages.withLock { $0.append(page.compactMap { $0.tags.last?.text }) }
                number = last.number
            }
            let all = await group.devices(after: nil, limit: .max)
            let ruled = await group.rule([
                DeliveryRuling(devices: .chosen([all[0].number, 4_000_000]), decision: .skip, reason: "chosen"),
                DeliveryRuling(devices: .tagged(tags[0]), decision: .skip, reason: "few"),
                DeliveryRuling(devices: .tagged(tags[0]), decision: .skip, reason: "nobody is left"),
            ])
            let last = await group.counts(of: tags)
            counts.withLock { $0 = [first, ruled, last, [group.count, all.count]] }
            #expect(await group.devices(after: nil, limit: 9).map(\.registrationID).count == 2)
        }
        let outcome = try await hub.send(.alert(to: "a"))
        #expect(counts.withLock { $0 } == [[3, 2, 5, 0, 1], [1, 2, 0], [0, 2, 2, 0, 0], [2, 5]])
        #expect(pages.withLock { $0 } == [["p1", "p2"], ["p3", "p4"], ["p5"]])
        #expect(outcome.counts == [.apns: [.success: 2, .skipped: 3], .fcmV1: [.success: 1]])
        #expect(outcome.devices.map(\.explanation).prefix(3) == ["chosen", "few", "few"])
    }

    @Test func `a hook sees the registration or installation of a device`() async throws {
        let registration = try await bench.register(.phone(1), tags: ["a"])
        try await hub.putInstallation(Installation(id: "pad", handle: .phone(2), tags: [try Tag("b")]))
        let seen = Mutex<[HookedDevice]>([])
        hooks.beforeDelivering { group in
            let devices = await group.devices(after: nil, limit: 10)
            seen.withLock { $0 = devices }
        }
        _ = try await hub.send(.alert())
        let devices = seen.withLock { $0 }
        #expect(devices.map(\.registrationID).first == registration.id && devices.map(\.installationID) == [nil, "pad"])
        #expect(devices.first?.tags.map(\.text) == ["a"] && devices.last?.tags.map(\.text).contains("b") == true)
    }

    @Test func `devices that cannot be read now are read again later`() async throws {
        try await phones(1...3)
        let seen = Mutex(0)
        hooks.beforeDelivering { group in
            let devices = await group.devices(after: nil, limit: 10)
            seen.withLock { $0 = devices.count }
        }
        bench.store.refuse([.rows])
        let id = try await hub.accept(.alert()).outcome.id
        try await bench.untilSomebodySleeps()
        #expect(reached.isEmpty)
        bench.store.refuse([])
        await bench.settle()
        #expect(seen.withLock { $0 } == 3)
        #expect(try await hub.outcome(of: id).sent == 3)
    }

    @Test func `devices of a direct send have numbers and no tags`() async throws {
        try await bench.register(.phone(7), tags: ["a"])
        let tag = try Tag("a")
        hooks.beforeDelivering { group in
            #expect(group.isDirect && group.count == 3)
            #expect(await group.counts(of: [tag]) == [0])
            let devices = await group.devices(after: 0, limit: 10)
            #expect(devices == [HookedDevice(number: 1), HookedDevice(number: 3)])
            let ruled = await group.rule([
                DeliveryRuling(devices: .tagged(tag), decision: .skip, reason: "none"),
                DeliveryRuling(devices: .chosen([1]), decision: .skip, reason: "that one"),
            ])
            #expect(ruled == [0, 1])
        }
        let handles = [7, 8, 7, 9].map { DeviceHandle.phone($0) }
        let request = NotificationRequest(
            audience: .devices(handles), content: .native(AlertPayloads.system(title: nil, text: "Hi")))
        let outcome = try await hub.send(request)
        #expect(reached == [.phone(7), .phone(9)] && outcome.counts == [.apns: [.success: 2, .skipped: 2]])
        #expect(outcome.devices.first { $0.handle == .phone(8) }?.explanation == "that one")
    }

    @Test func `registrations with the same handle get the decision for the first one`() async throws {
        try await bench.register(.phone(1), tags: ["a", "quiet"])
        try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(2), tags: ["a"])
        try await bench.register(.phone(2), tags: ["a", "quiet"])
        try skip("quiet")
        let outcome = try await hub.send(.alert(to: "a"))
        #expect(reached == [.phone(2)] && hooks.groups.map(\.count) == [2])
        #expect(outcome.counts == [.apns: [.success: 1, .skipped: 3]] && outcome.devices.count == 4)
        let explanations = outcome.devices.filter { $0.handle == .phone(1) }.map(\.explanation)
        #expect(explanations == ["quiet: not on Sundays", "another registration with the same handle received it"])
    }

    @Test func `if a hook throws, devices without a decision are abandoned with its error`() async throws {
        try await phones(1...3) { $0 == 1 ? ["a", "quiet"] : ["a"] }
        try await bench.register(.fcmV1(token: "f"), tags: ["a"])
        let quiet = try Tag("quiet")
        hooks.beforeDelivering { group throws(PushError) in
            guard group.platform == .apns else { return }
            _ = await group.rule([DeliveryRuling(devices: .tagged(quiet), decision: .skip, plugin: "quiet", reason: "asleep")])
            throw PushError("plugin.failed", "quiet: attempt to index a nil value")
        }
        let outcome = try await hub.send(.alert(to: "a"))
        #expect(reached == [.fcmV1(token: "f")] && outcome.state == .completed)
        #expect(outcome.counts == [.apns: [.skipped: 1, .abandoned: 2], .fcmV1: [.success: 1]] && outcome.failed == 2)
        let failed = outcome.devices.filter { $0.outcome == .abandoned }
        #expect(failed.allSatisfy { $0.reason == "Hook" && $0.explanation == "quiet: attempt to index a nil value" })
    }

    @Test func `a decision after the hook has returned is ignored`() async throws {
        try await phones(1...2)
        let stored = Mutex<(any HookedGroup)?>(nil)
        hooks.beforeDelivering { group in stored.withLock { $0 = group } }
        let outcome = try await hub.send(.alert())
        let group = try #require(stored.withLock { $0 })
        #expect(await group.rule([DeliveryRuling(devices: .all, decision: .skip, reason: "late")]) == [0])
        #expect(outcome.sent == 2 && group.count == 0)
    }

    @Test func `for a test send the hook sees only the sample`() async throws {
        try await phones(1...30)
        try skip("a")
        var request = try NotificationRequest.alert()
        request.isTest = true
        let outcome = try await hub.send(request)
        #expect(hooks.groups.map(\.count) == [10] && outcome.state == .detailedStateAvailable)
        #expect(outcome.counts == [.apns: [.skipped: 10]])
    }

    @Test func `a skipped device is counted once, even after a restart`() async throws {
        try await phones(1...6) { $0 % 2 == 0 ? ["a", "quiet"] : ["a"] }
        try skip("quiet")
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(devicesPerStep: 1)))
        bench.connector.during { [bench] batch in
            if batch.handles == [.phone(3)] { bench.store.refuse([.record]) }
        }
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        try await bench.untilSomebodySleeps()
        // Nothing more of that process is stored.
        bench.connector.during { _ in }
        let stop = Task { await hub.stop() }
        await stop.value
        bench.store.refuse([])
        hooks.beforeDelivering { _ in }
        let again = try await bench.reopened()
        await bench.settle()
        let outcome = try await again.outcome(of: id)
        #expect(outcome.counts == [.apns: [.success: 3, .skipped: 3]] && outcome.devices.count == 6)
        #expect(Set(reached) == [.phone(1), .phone(3), .phone(5)])
    }

    @Test func `a cancelled notification calls no more hooks, and ignores one in progress`() async throws {
        try await phones(1...3)
        hooks.listen()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        hooks.beforeDelivering { group in
            _ = await group.rule([DeliveryRuling(devices: .all, decision: .skip, reason: "late")])
            for await _ in gate {}
        }
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true)))
        let id = try await hub.accept(.alert()).outcome.id
        try await until { !hooks.groups.isEmpty }
        try await hub.cancel(notification: id)
        open.finish()
        await bench.settle()
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .canceled && outcome.counts == [.apns: [.abandoned: 3]] && reached.isEmpty)
        #expect(hooks.ended.map(\.outcome.state) == [.canceled])
    }
}
