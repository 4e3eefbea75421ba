import PushHub
import PushModel
import Storage
import Support
import Testing

/// Devices that hooks defer while processes over the same database stop and start.
@Suite struct DeferredDevicesTests {
    private let clock = VirtualClock(now: HubBench.startTime)
    private let connector: ScriptedConnector
    private static let time = HubBench.startTime + .seconds(6 * 86_400)

    init() { connector = ScriptedConnector(clock: clock) }

    /// Defers devices with the tag `later`.
    private struct Holding: HubHooks {
        func hasHook(_ phase: HookPhase) -> Bool { phase == .beforeDeliver }

        func beforeDeliver(_ group: any HookedGroup) async {
            guard let tag = Tag(validating: "later") else { return }
            _ = await group.rule([
                DeliveryRuling(
                    devices: .tagged(tag), decision: .hold(until: DeferredDevicesTests.time), plugin: "quiet", reason: "\u{1F634}")
            ])
        }

        func beforeSend(_ draft: SendDraft) -> SendDraft { draft }
        func afterSend(_ sent: SentNotification) {}
        func onOutcome(_ ended: EndedNotification) {}
        func onRegister(_ draft: RegistrationDraft) -> RegistrationDraft { draft }
        func onLogin(_ login: LoginDraft) {}
        func onSecureFetch(_ fetch: SecureFetch) {}
    }

    private func open(_ file: String, hooks: any HubHooks = Holding()) async throws -> (hub: NotificationHub, storage: SQLiteStorage) {
        let storage = try await SQLiteStorage.open(file)
        let store = storage.namespace.store(ofHub: 1)
        let hub = NotificationHub(
            environment: HubEnvironment(
                clock: clock, random: SeededRandom(seed: 1), start: { work in Task { await work() } }, hooks: hooks),
            connectors: [connector], store: store, loaded: try await store.load(into: HubLoader()),
            settings: HubSettings(acceptance: HubSettings.Acceptance(naming: .unique), dispatch: HubSettings.Dispatch(isConcurrent: true)))
        try await hub.resume()
        return (hub, storage)
    }

    private func untilHeld(_ id: String, _ hub: NotificationHub) async throws -> NotificationOutcome {
        // Once a task sleeps until the deferral ends, everything is stored.
        try await until { clock.hasSleepingTasks }
        while true {
            let outcome = try await hub.finish(id)
            if !outcome.notices.isEmpty { return outcome }
            await Task.yield()
        }
    }

    /// Returns once the end is stored, with all devices.
    private func untilEnded(_ storage: SQLiteStorage) async throws {
        let store = storage.namespace.store(ofHub: 1)
        try await until { try await store.notification(1)?.outcome.state == .completed }
    }

    @Test func `deferred devices survive every restart and are sent to once, when their time comes`() async throws {
        let folder = try Folder()
        let file = folder.file("hub.db")
        var (hub, storage) = try await open(file)
        for (number, tag) in [(1, "now"), (2, "later"), (3, "later")] {
            _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(number), tags: [try Tag(tag)]))
        }
        let id = try await hub.accept(.alert()).outcome.id
        for _ in 1...3 {
            let outcome = try await untilHeld(id, hub)
            #expect(outcome.state == .processing && outcome.counts == [.apns: [.success: 1]] && outcome.startedAt == HubBench.startTime)
            #expect(outcome.notices.map(\.text) == ["2 devices wait until 2026-01-11T09:00:00.000Z: quiet: \u{1F634}"])
            #expect(outcome.devices.map(\.handle) == [.phone(1)])
            await hub.stop()
            try await storage.close()
            clock.advance(to: clock.now + .seconds(86_400))
            (hub, storage) = try await open(file)
        }
        _ = try await untilHeld(id, hub)
        clock.advance(to: Self.time)
        try await untilEnded(storage)
        let outcome = try await hub.finish(id)
        #expect(outcome.counts == [.apns: [.success: 3]] && outcome.devices.count == 3 && outcome.notices.isEmpty)
        #expect(connector.batches.flatMap(\.handles) == [.phone(1), .phone(2), .phone(3)])
        #expect(connector.deliveries.map(\.time) == [HubBench.startTime, Self.time])
        await hub.stop()
        try await storage.close()
        withExtendedLifetime(folder) {}
    }

    @Test func `the next process waits for the time, even if no hook defers the devices any more`() async throws {
        let folder = try Folder()
        let file = folder.file("hub.db")
        var (hub, storage) = try await open(file)
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(2), tags: [try Tag("later")]))
        let id = try await hub.accept(.alert()).outcome.id
        _ = try await untilHeld(id, hub)
        await hub.stop()
        try await storage.close()
        (hub, storage) = try await open(file, hooks: NoHooks())
        _ = try await untilHeld(id, hub)
        #expect(connector.batches.isEmpty)
        clock.advance(to: Self.time)
        try await untilEnded(storage)
        #expect(connector.deliveries.map(\.time) == [Self.time])
        await hub.stop()
        try await storage.close()
        withExtendedLifetime(folder) {}
    }
}
