import PushModel
import Support
import Testing

@testable import Storage

@Suite struct RestoredStoreTests {
    @Test func `A store loaded before a restore can neither change nor read the restored data`() async throws {
        let bench = try await Bench()
        let (namespace, store) = (bench.storage.namespace, bench.store)
        try await namespace.putHub(Samples.hub(1))
        let backup = bench.folder.file("backup.db")
        try await bench.storage.backup(to: backup)
        try await store.commit(RegistrationChange(puts: [Samples.put(1, 1)]))
        try await bench.storage.restore(from: backup)
        for stale in [
            await refusal { try await store.commit(RegistrationChange(puts: [Samples.put(2, 2)])) },
            await refusal { _ = try await store.load() },
            await refusal { try await namespace.putHub(Samples.hub(2)) },
        ] {
            #expect(stale?.code == "storage.unavailable")
        }
        #expect(try await bench.store.load() == StoredHub())
        #expect(try await bench.storage.namespace.load().hubs == [Samples.hub(1)])
    }

    @Test func `An unreadable held removal in a backup is left out and reported, as an unreadable device is`() async throws {
        let broken = try await Bench()
        try await broken.storage.namespace.putHub(Samples.hub(1))
        try await broken.store.commit(RegistrationChange(puts: [Samples.put(1, 1), Samples.put(2, 2)]))
        try await broken.store.hold(
            [1, 2].map {
                HeldRemoval(
                    handle: .phone($0), reason: "Unregistered", notificationID: "n-1", time: HubBench.startTime,
                    validBefore: HubBench.startTime)
            })
        try await broken.execute("UPDATE held_removal SET platform = 'pager' WHERE number = 1")
        try await broken.execute("UPDATE registration SET platform = 'pager' WHERE place = 1")
        let backup = broken.folder.file("backup.db")
        try await broken.storage.backup(to: backup)
        let bench = try await Bench()
        try await bench.storage.restore(from: backup)
        let restored = try await bench.store.load()
        #expect(restored.registrations == [Samples.put(2, 2)])
        #expect(restored.unreadable.map(\.table) == [.registrations, .heldRemovals])
        #expect(try await bench.store.heldRemovals(HeldRemovalFilter(), below: nil, limit: 9).map(\.handle) == [.phone(2)])
    }

    @Test func `A backup with an unreadable hub is rejected before anything changes`() async throws {
        let broken = try await Bench()
        try await broken.storage.namespace.putHub(Samples.hub(1))
        try await broken.storage.database.write { try $0.run("UPDATE hub SET description = 'pigeon'") }
        let backup = broken.folder.file("backup.db")
        try await broken.storage.backup(to: backup)
        let bench = try await Bench()
        try await bench.storage.namespace.putHub(Samples.hub(1))
        try await bench.store.commit(RegistrationChange(puts: [Samples.put(1, 1)]))
        let kept = try await bench.store.load()
        let error = await refusal {
            try await bench.storage.restore(from: backup) { Issue.record("it was about to change something") }
        }
        #expect(error?.code == "storage.corrupt")
        #expect(error?.message.contains(backup) == true)
        #expect(try await bench.store.load() == kept)
    }
}
