import PushHub
import PushModel
import Storage
import Support
import Testing

/// Unreadable rows, and a hub that runs without them.
@Suite struct UnreadableRowsTests {
    @Test func `A hub starts and delivers without unreadable rows, and leaves them unchanged`() async throws {
        let bench = try await Bench()
        let content = NotificationContent.native([.apns: NativePayload(body: Array(#"{"aps":{}}"#.utf8))])
        try await bench.store.commit(
            RegistrationChange(
                removals: [Samples.removal(9, 9)], puts: (0..<3).map { Samples.put($0, Int($0)) },
                installationPuts: [
                    InstallationRow(row: 0, installation: try Samples.installation("a"), expiration: .distantFuture),
                    InstallationRow(row: 1, installation: try Samples.installation("b"), expiration: .distantFuture),
                ]))
        for sequence in 1...600 as ClosedRange<Int64> {
            _ = try await bench.store.accept(
                try Samples.notification(sequence, id: "n-\(sequence)", request: NotificationRequest(audience: .everyone, content: content))
            )
        }
        try await bench.store.hold(
            (0..<2).map {
                HeldRemoval(
                    handle: .phone($0), reason: "Unregistered", notificationID: "n-1", time: HubBench.startTime,
                    validBefore: HubBench.startTime)
            })
        try await bench.execute("UPDATE held_removal SET platform = 'pager' WHERE number = 2")
        try await bench.execute("UPDATE registration SET platform = 'pager' WHERE place = 2")
        try await bench.execute("UPDATE installation SET content = '[]' WHERE place = 1")
        try await bench.execute("UPDATE departure SET reason = 'bored'")
        let broken: Set<Int64> = [1, 2, 300, 600]
        try await bench.execute("UPDATE notification SET request = '{' WHERE id IN ('n-1', 'n-2', 'n-300', 'n-600')")
        let stored = try await bench.store.load()
        #expect(stored.unreadable.map(\.table) == [.installations, .registrations, .tombstones, .heldRemovals])
        #expect(stored.unreadable.last?.reason.hasPrefix("the held removal 2 of hub 1 cannot be read: ") == true)
        #expect(try await bench.store.heldRemovals(HeldRemovalFilter(), below: nil, limit: 9).map(\.number) == [1])
        #expect(stored.registrations.map(\.row) == [0, 1] && stored.installations.map(\.row) == [0])

        for read: Work in [
            { _ = try await bench.store.registrations(at: [0, 2]) }, { _ = try await bench.store.installations(at: [1]) },
        ] {
            #expect(await refusal { try await read() }?.code == "storage.corrupt")
        }

        let clock = VirtualClock(now: HubBench.startTime)
        let connector = ScriptedConnector(clock: clock)
        let hub = NotificationHub(
            environment: HubEnvironment(clock: clock, random: SeededRandom(seed: 1), start: { work in Task { await work() } }),
            connectors: [connector], store: bench.store, stored: stored)
        try await hub.resume()
        let whole = (1...600).filter { !broken.contains($0) }
        for sequence in whole {
            let outcome = try await hub.finish("n-\(sequence)")
            #expect(outcome.sent == 2)
        }
        #expect(connector.batches.count == whole.count)
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(77)))
        #expect(try await bench.integer("SELECT place FROM registration ORDER BY place DESC LIMIT 1") == 3)
        #expect(try await bench.integer("SELECT count(*) FROM registration WHERE platform = 'pager'") == 1)
        await hub.stop()
    }
}
