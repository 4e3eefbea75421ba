import PushHub
import PushModel
import Support
import Testing

/// One notification removes no more than a share of its audience; further removals wait for an operator.
@Suite struct RemovalBrakeTests {
    private let bench: HubBench

    init() throws { bench = try HubBench() }

    private func hub(_ share: Double = 0.2) async throws -> NotificationHub {
        try await bench.reopened(HubSettings(feedback: HubSettings.Feedback(maxRemovedShare: share)))
    }

    /// Registers this many phones with a tag, and makes the push service reject the tokens of the first ones.
    private func crowd(_ count: Int, invalid: Int, reason: String = "Unregistered") async throws {
        for number in 1...count { try await bench.register(.phone(number), tags: ["all", "t\(number % 2)"]) }
        try script(1...max(1, invalid), .rejected(.invalidHandle(reason)))
    }

    private func script(_ numbers: ClosedRange<Int>, _ verdict: Verdict) throws {
        for number in numbers { bench.connector.script(.phone(number), verdict) }
    }

    private func held(_ hub: NotificationHub, _ filter: HeldRemovalFilter = HeldRemovalFilter()) async throws -> Int {
        try await hub.heldRemovals(filter, below: nil, limit: 10_000).count
    }

    @Test func `removals beyond a fifth of the audience are held, and their devices get the next notification`() async throws {
        try await crowd(1200, invalid: 1100)
        let hub = try await hub()
        let outcome = try await hub.send(.alert(to: "all"))
        #expect(outcome.pruned == [.apns: ["Unregistered": 240]])
        #expect(await hub.size().registrations == 960)
        #expect(try await held(hub) == 860)
        #expect(await hub.heldRemovalCount == 860)
        #expect(outcome.notices.count == 1)
        let warnings = bench.events.filter { $0.isWarning && $0.area == .feedback }
        #expect(warnings.count == 1 && warnings[0].text.contains(outcome.id), "\(warnings)")
        try script(1...1100, .accepted(id: nil))
        #expect(try await hub.send(.alert(to: "all")).sent == 960)
    }

    @Test(arguments: [(0.0, 0), (0.05, 60), (0.2, 240), (0.999, 1100), (1.0, 1100)])
    func `any share may be chosen, including none and all`(share: Double, removed: Int) async throws {
        try await crowd(1200, invalid: 1100)
        let hub = try await hub(share)
        let outcome = try await hub.send(.alert(to: "all"))
        #expect(outcome.removedCount == removed)
        #expect(try await held(hub) == 1100 - removed)
    }

    @Test func `audiences of less than a thousand devices are not limited`() async throws {
        try await crowd(999, invalid: 999)
        let hub = try await hub(0)
        #expect(try await hub.send(.alert(to: "all")).removedCount == 999)
        #expect(try await held(hub) == 0)
    }

    private static let templates = [#"{"aps":{"alert":"$(m)"}}"#, #"{"aps":{"alert":"$(m)","badge":1}}"#]

    @Test func `a device with several templates counts once`() async throws {
        for number in 1...1000 { for template in Self.templates { try await bench.register(.phone(number), template: template) } }
        try script(1...1000, .rejected(.invalidHandle()))
        let hub = try await hub()
        _ = try await hub.send(.properties(["m": "x"]))
        #expect(await hub.size().registrations == 1600)
        #expect(try await held(hub) == 800)
        #expect(await hub.heldRemovalCount == 800)
    }

    @Test func `a device with several equal registrations counts once, so fewer than a thousand devices are not limited`() async throws {
        for number in 1...999 { for _ in 1...2 { try await bench.register(.phone(number)) } }
        try script(1...999, .rejected(.invalidHandle()))
        let hub = try await hub(0)
        _ = try await hub.send(.alert())
        #expect(await hub.size().registrations == 0)
        #expect(await hub.heldRemovalCount == 0)
    }

    @Test func `a notification that continues later counts the devices it has removed once`() async throws {
        let hooks = ScriptedHooks()
        let bench = try HubBench(hooks: hooks)
        for number in 1...1000 {
            for template in Self.templates {
                try await bench.register(.phone(number), tags: [number > 600 ? "late" : "early"], template: template)
            }
        }
        for number in [1...150, 601...700].joined() { bench.connector.script(.phone(number), .rejected(.invalidHandle())) }
        try hooks.hold("late", until: HubBench.startTime + .seconds(3600))
        let hub = try await bench.reopened(HubSettings(feedback: HubSettings.Feedback(maxRemovedShare: 0.2)))
        let id = try await hub.accept(.properties(["m": "x"])).outcome.id
        await bench.settle()
        #expect(try await hub.outcome(of: id).state == .completed)
        #expect(await hub.size().registrations == 1600)
        #expect(await hub.heldRemovalCount == 50)
    }

    @Test func `held removals are applied, by notification, by reason or all, and can be restored like any other`() async throws {
        try await crowd(2400, invalid: 600)
        try script(601...1200, .rejected(.invalidHandle("ExpiredToken")))
        let hub = try await hub(0)
        let first = try await hub.send(.alert(to: "t1"))
        let second = try await hub.send(.alert(to: "t0"))
        #expect(try await held(hub, HeldRemovalFilter(notificationID: first.id)) == 600)
        #expect(try await held(hub, HeldRemovalFilter(notificationID: second.id, reason: "ExpiredToken")) == 300)

        let dryRun = try await hub.applyHeldRemovals(HeldRemovalFilter(notificationID: first.id), isDryRun: true)
        #expect(dryRun == HeldRemovalResult(devices: 600))
        #expect(await hub.size().registrations == 2400)
        #expect(try await hub.applyHeldRemovals(HeldRemovalFilter(notificationID: first.id)) == HeldRemovalResult(devices: 600))
        #expect(await hub.size().registrations == 1800)
        #expect(try await hub.pruned(PrunedFilter(notificationID: first.id), below: nil, limit: 1000).count == 600)
        #expect(try await hub.dropHeldRemovals(HeldRemovalFilter(reason: "ExpiredToken")) == HeldRemovalResult(devices: 300))
        #expect(try await held(hub) == 300)
        #expect(await hub.heldRemovalCount == 300)
        #expect(try await hub.applyHeldRemovals(HeldRemovalFilter()) == HeldRemovalResult(devices: 300))
        #expect(await hub.size().registrations == 1500)
        #expect(try await hub.applyHeldRemovals(HeldRemovalFilter()) == HeldRemovalResult())
        #expect(try await hub.restore(PrunedFilter(notificationID: first.id)) == Restoration(restored: 600))
    }

    @Test func `what was held survives a restart, and so does the count of the notification`() async throws {
        try await crowd(1200, invalid: 1100)
        let outcome = try await hub().send(.alert(to: "all"))
        let next = try await hub()
        #expect(try await held(next) == 860)
        #expect(await next.heldRemovalCount == 860)
        let found = try await next.heldRemovals(HeldRemovalFilter(), below: nil, limit: 1)
        #expect(found.first?.notificationID == outcome.id && found.first?.reason == "Unregistered")
        #expect(try await next.applyHeldRemovals(HeldRemovalFilter()) == HeldRemovalResult(devices: 860))
        #expect(await next.size().registrations == 100)
    }

    @Test func `a device that is registered again, or deleted, has no held removal any more`() async throws {
        try await crowd(1000, invalid: 1000)
        let hub = try await hub(0)
        _ = try await hub.send(.alert(to: "all"))
        bench.advance(by: .seconds(60))
        let rows = try await hub.registrations(.handle(.phone(1)), page: Page()).registrations
        let id = try #require(rows.first?.id)
        _ = try await hub.putRegistration(id, RegistrationDescription(handle: .phone(1), tags: []), ifMatch: nil)
        let other = try #require(try await hub.registrations(.handle(.phone(2)), page: Page()).registrations.first?.id)
        try await hub.deleteRegistration(other, ifMatch: nil)
        #expect(try await held(hub) == 998)
        #expect(await hub.heldRemovalCount == 998)
        // The phone is registered under another id. That registration remains, and the old one is removed.
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(3), tags: []))
        #expect(try await hub.applyHeldRemovals(HeldRemovalFilter()) == HeldRemovalResult(devices: 998))
        #expect(await hub.size().registrations == 2)
        #expect(try await hub.registrations(.handle(.phone(3)), page: Page()).registrations.count == 1)
    }

    @Test func `devices registered again since their rejection neither count toward the limit nor are held`() async throws {
        try await crowd(1200, invalid: 0)
        // The first 900 tokens became invalid before they were registered.
        try script(1...900, .rejected(.invalidHandle(since: HubBench.startTime + .seconds(-60))))
        try script(901...1100, .rejected(.invalidHandle()))
        let hub = try await hub(0.1)
        let outcome = try await hub.send(.alert(to: "all"))
        #expect(outcome.removedCount == 120)
        #expect(try await held(hub) == 80)
        #expect(await hub.heldRemovalCount == 80)
        #expect(await hub.size().registrations == 1080)
    }

    @Test func `a dry run of applying counts only the devices that would be removed`() async throws {
        try await crowd(10, invalid: 0)
        for number in 1...10 {
            let validBefore = HubBench.startTime + .seconds(number <= 4 ? -60 : 60)
            try await bench.store.hold([
                HeldRemoval(
                    handle: .phone(number), reason: "Unregistered", notificationID: "n", time: HubBench.startTime, validBefore: validBefore)
            ])
        }
        let hub = try await hub(0)
        let expected = HeldRemovalResult(devices: 6, outdated: 4)
        #expect(try await hub.applyHeldRemovals(HeldRemovalFilter(), isDryRun: true) == expected)
        #expect(try await held(hub) == 10)
        #expect(try await hub.applyHeldRemovals(HeldRemovalFilter()) == expected)
        #expect(await hub.size().registrations == 4)
        #expect(try await held(hub) == 0)
        #expect(await hub.heldRemovalCount == 0)
    }

    @Test func `a device with two registrations is held until the last of them is gone`() async throws {
        try await crowd(1000, invalid: 1000)
        _ = try await bench.hub.createRegistration(RegistrationDescription(handle: .phone(1), tags: [try Tag("all")]))
        let hub = try await hub(0)
        _ = try await hub.send(.alert(to: "all"))
        #expect(await hub.heldRemovalCount == 1000)
        let rows = try await hub.registrations(.handle(.phone(1)), page: Page()).registrations.map(\.id)
        #expect(rows.count == 2)
        try await hub.deleteRegistration(rows[0], ifMatch: nil)
        #expect(try await held(hub) == 1000)
        #expect(await hub.heldRemovalCount == 1000)
        try await hub.deleteRegistration(rows[1], ifMatch: nil)
        #expect(try await held(hub) == 999)
        #expect(await hub.heldRemovalCount == 999)
    }

    @Test func `a device that expires has no held removal any more`() async throws {
        let hub = try await bench.reopened(HubSettings(registrationTTL: .seconds(3600), feedback: HubSettings.Feedback(maxRemovedShare: 0)))
        for number in 1...1000 { _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(number), tags: [])) }
        try script(1...1000, .rejected(.invalidHandle()))
        _ = try await hub.send(.alert())
        #expect(try await held(hub) == 1000)
        bench.advance(by: .seconds(3601))
        #expect(await hub.size().registrations == 0)
        await bench.settle()
        #expect(try await held(hub) == 0)
        #expect(await hub.heldRemovalCount == 0)
    }

    @Test func `installations keep their channel while the removal is held, and lose it when it is applied`() async throws {
        for number in 1...1000 { try await bench.hub.putInstallation(Installation(id: "pad-\(number)", handle: .phone(number))) }
        try script(1...1000, .rejected(.invalidHandle()))
        let hub = try await hub(0.5)
        #expect(try await hub.send(.alert()).removedCount == 500)
        #expect(try await hub.installation("pad-1000").isPushChannelExpired == false)
        #expect(try await hub.applyHeldRemovals(HeldRemovalFilter()) == HeldRemovalResult(devices: 500))
        #expect(try await hub.installation("pad-1000").isPushChannelExpired)
    }

    @Test func `a device of two notifications is held once, and a further one does not remove it without a decision`() async throws {
        try await crowd(1000, invalid: 1000)
        let hub = try await hub(0)
        _ = try await hub.send(.alert(to: "all"))
        bench.advance(by: .seconds(60))
        _ = try await hub.send(.alert(to: "all"))
        #expect(try await held(hub) == 1000)
        // A small send is not limited, but does not remove it either.
        _ = try await hub.send(.alert(to: "all && t1 && !t0"))
        #expect(try await held(hub) == 1000)
        #expect(await hub.heldRemovalCount == 1000)
        #expect(await hub.size().registrations == 1000)
        #expect(try await hub.dropHeldRemovals(HeldRemovalFilter()) == HeldRemovalResult(devices: 1000))
        #expect(try await hub.send(.alert(to: "t1 && !t0")).removedCount == 500)
    }

    @Test func `a removal that cannot be stored leaves the device as it is`() async throws {
        try await crowd(1000, invalid: 1000)
        let hub = try await hub(0)
        bench.store.refuse([.commit])
        let outcome = try await hub.send(.alert(to: "all"))
        bench.store.refuse([])
        #expect(outcome.removedCount == 0)
        #expect(try await held(hub) == 0)
        #expect(await hub.size().registrations == 1000)
    }
}
