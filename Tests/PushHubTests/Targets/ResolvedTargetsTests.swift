import PushModel
import Support
import Testing

@testable import PushHub

/// Targets that are found once and travel with a send.
@Suite struct ResolvedTargetsTests {
    private let bench: HubBench
    private let request: NotificationRequest
    private var hub: NotificationHub { bench.hub }

    init() async throws {
        bench = try HubBench()
        request = try .alert(to: "all")
        for number in 1...12 { try await bench.register(.phone(number), tags: number <= 3 ? ["all", "one"] : ["all"]) }
    }

    /// An admission that counts the devices.
    private static let counting = SendAdmission { draft, _, counter in
        _ = await counter.reach(of: draft.request)
        return .admitted(nil)
    }

    /// The targets with which a checked send continues.
    private func checked(_ order: SendIntake.Order, _ other: NotificationHub? = nil) async throws -> ResolvedTargets? {
        let hub = other ?? self.hub
        guard case .new(let checked) = try await hub.intake.check(order, for: hub) else { return nil }
        return checked.targets
    }

    private func found() async throws -> ResolvedTargets {
        var targets: ResolvedTargets?
        let reach = await hub.reach(of: request, &targets)
        #expect(reach.devices == 12)
        return try #require(targets)
    }

    @Test func `the targets of the admission travel with an accepted send`() async throws {
        let targets = try #require(try await checked(SendIntake.Order(request: request, admission: Self.counting)))
        #expect(await hub.members(of: targets, request)?.count == 12)
        #expect(try await checked(SendIntake.Order(request: request)) == nil)
    }

    @Test func `the targets of a decision are those of the recheck and of the delivery, until a registration changes`() async throws {
        let first = try await found()
        let order = SendIntake.Order(request: request, admission: Self.counting, targets: first)
        let second = try #require(try await checked(order))
        let (before, after) = (await hub.storage(of: first, request), await hub.storage(of: second, request))
        #expect(before != nil && before == after)
        try await bench.register(.phone(13), tags: ["all"])
        #expect(await hub.storage(of: first, request) == nil)
        let third = try #require(try await checked(order))
        #expect(await hub.members(of: third, request)?.count == 13)
    }

    @Test func `a hook that changes the audience has its targets found`() async throws {
        let hooks = ScriptedHooks()
        let bench = try HubBench(hooks: hooks)
        for number in 1...3 { try await bench.register(.phone(number), tags: number == 1 ? ["one", "all"] : ["all"]) }
        let changed = try NotificationRequest.alert(to: "one")
        hooks.beforeSending { draft throws(PushError) in
            var draft = draft
            draft.request = changed
            return draft
        }
        let targets = try #require(try await checked(SendIntake.Order(request: request, admission: Self.counting), bench.hub))
        #expect(await bench.hub.members(of: targets, changed)?.count == 1)
    }

    @Test func `a delivery that starts at once takes the targets, and a waiting one leaves them`() async throws {
        let targets = try await found()
        let (started, waiting) = (try await hub.stored(request), try await hub.stored(request))
        #expect(await hub.enqueue(started, targets, slots: 4))
        #expect(await !hub.enqueue(waiting, targets, slots: 0))
        await bench.settle()
    }

    @Test func `a due approved send is sent to the targets that its recheck has found`() async throws {
        // Its tags leave open whether it reaches more than 10 devices, so that they have to be found.
        var stored = try await hub.stored(.alert(to: "all && !one"))
        stored.outcome.state = .scheduled
        stored.request.approvedReach = ApprovedReach(devices: 10, basis: .ceiling(of: nil))
        #expect(await hub.sessionUsesRecheckedTargets(stored))
    }
}

extension NotificationHub {
    /// The rows of the first group, if the targets are those of the request now.
    fileprivate func members(of targets: ResolvedTargets, _ request: NotificationRequest) -> [UInt32]? {
        targets.targets(of: request, directory.table.revision)?.groups.first?.members
    }

    /// The address of the rows of the first group, if the targets are those of the request now. It differs for targets that were found
    /// again.
    fileprivate func storage(of targets: ResolvedTargets, _ request: NotificationRequest) -> UInt? {
        members(of: targets, request)?.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }

    fileprivate func stored(_ request: NotificationRequest) async throws -> StoredNotification {
        let draft = SendDraft(hub: name, request: request, dueTime: nil, origin: [])
        let stored = intake.notification(SendIntake.Checked(draft: draft))
        _ = try await intake.store(stored, for: self)
        return stored
    }

    /// Queues a notification with a number of delivery slots. Returns whether its delivery would take the targets.
    fileprivate func enqueue(_ stored: StoredNotification, _ targets: ResolvedTargets, slots: Int) -> Bool {
        context.settings.limits.concurrentNotifications = slots
        scheduler.enqueue(stored, targets)
        return scheduler.takeTargets(of: stored.sequence) != nil
    }

    /// Whether a delivery finds its targets when its reach is checked, and not again.
    fileprivate func sessionUsesRecheckedTargets(_ stored: StoredNotification) async -> Bool {
        var session = DeliverySession(stored, nil, (nil, false), nil, keepsDevices: true, services)
        guard await session.begin(), let found = session.resolved, let before = storage(of: found, stored.request) else { return false }
        guard await session.prepare(asking: self), session.resolved == nil else { return false }
        return session.targets.groups.first?.members.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } == before
    }
}
