import PushHub
import PushModel
import Support
import Testing

/// Removal of expired rows, especially if the store cannot delete them at once.
@Suite struct ExpiryTests {
    @Test func `Expired rows that could not be deleted are deleted once the disk has space`() async throws {
        let bench = try HubBench(registrationTTL: .seconds(60))
        let registration = try await bench.register(.phone(1))
        bench.advance(by: .seconds(61))
        bench.store.refuse([.commit])
        #expect(await bench.hub.size().registrations == 0)
        try await bench.untilSomebodySleeps()
        #expect(try await bench.store.load().registrations.count == 1)
        bench.store.refuse([])
        await bench.settle()
        let stored = try await bench.store.load()
        #expect(stored.registrations.isEmpty && stored.tombstones[registration.id]?.reason == .expired)
        // The row is free again.
        _ = try await bench.register(.phone(2))
        #expect(try await bench.store.load().registrations.map(\.row) == [0])
    }

    @Test func `Many rows that expire together are deleted in steps`() async throws {
        let bench = try HubBench(registrationTTL: .seconds(60))
        for number in 1...1201 { try await bench.register(.phone(number)) }
        bench.advance(by: .seconds(61))
        #expect(await bench.hub.size().registrations == 0)
        await bench.settle()
        #expect(try await bench.store.load().registrations.isEmpty)
        #expect(bench.store.removals.filter { $0 > 0 } == [500, 500, 201])
    }

    /// The installation expired on a full disk and was stored again later, so the store has both rows.
    @Test func `Of two rows of one installation the newer one is used, and the older one is deleted`() async throws {
        let bench = try HubBench()
        let (old, new) = (HubBench.startTime + .seconds(-60), HubBench.startTime + .seconds(3600))
        func row(_ rowNumber: UInt32, _ number: Int, _ expiration: Timestamp) throws -> (InstallationRow, RegistrationRow) {
            let written = expiration + .seconds(-50)
            var installation = Installation(id: "pad", handle: .phone(number), expiration: expiration, tags: [try Tag("a")])
            installation.updatedAt = written
            let id = try #require(RegistrationID("\(number)-1-1"))
            return (
                InstallationRow(row: rowNumber, installation: installation, expiration: expiration),
                RegistrationRow(
                    row: rowNumber,
                    registration: Registration(
                        id: id, etag: 1, expiration: expiration, updatedAt: written,
                        description: RegistrationDescription(handle: .phone(number), tags: [try Tag("a")]), installationID: "pad"))
            )
        }
        // The older row comes after the newer one, so that reading in order would prefer it.
        let rows = [try row(0, 1, new), try row(1, 2, old)]
        try await bench.store.commit(RegistrationChange(puts: rows.map(\.1), installationPuts: rows.map(\.0)))
        bench.store.refuse([.commit])
        let hub = try await bench.reopened()
        #expect(try await hub.installation("pad").handle == .phone(1))
        #expect(try await hub.registrations(.all, page: Page()).registrations.map(\.handle) == [.phone(1)])
        bench.store.refuse([])
        // While the older row exists, its number is not reused.
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(3)))
        #expect(try await bench.store.load().registrations.map(\.row) == [0, 1, 2])
        await bench.settle()
        let stored = try await bench.store.load()
        #expect(stored.installations == [rows[0].0] && stored.registrations.map(\.row) == [0, 2])
        #expect(try await hub.send(.alert(to: "a")).devices.map(\.handle) == [.phone(1)])
    }

    @Test func `Ids of registrations removed before a time are forgotten, unless they were removed again since`() async throws {
        let bench = try HubBench()
        let ids = try await [bench.register(.phone(1)).id, bench.register(.phone(2)).id]
        try await bench.hub.deleteRegistration(ids[0], ifMatch: nil)
        bench.advance(by: .seconds(60))
        try await bench.hub.deleteRegistration(ids[1], ifMatch: nil)
        try await bench.hub.removeOld(notificationsBefore: HubBench.startTime, tombstonesBefore: HubBench.startTime + .seconds(1))
        _ = try await bench.hub.putRegistration(ids[0], RegistrationDescription(handle: .phone(1)), ifMatch: nil)
        let error = await refusal {
            try await bench.hub.putRegistration(ids[1], RegistrationDescription(handle: .phone(2)), ifMatch: nil)
        }
        #expect(error?.code == "hub.gone")
        try await bench.hub.deleteRegistration(ids[0], ifMatch: nil)
        try await bench.hub.removeOld(notificationsBefore: HubBench.startTime, tombstonesBefore: HubBench.startTime + .seconds(1))
        #expect(
            await refusal { try await bench.hub.putRegistration(ids[0], RegistrationDescription(handle: .phone(1)), ifMatch: nil) }?.code
                == "hub.gone")
    }
}
