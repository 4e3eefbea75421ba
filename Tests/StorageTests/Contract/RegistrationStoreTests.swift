import PushModel
import Storage
import Support
import Testing

@Suite struct RegistrationStoreTests {
    @Test(arguments: Engine.allCases)
    func `A new hub is empty`(engine: Engine) async throws {
        try await engine.runHub { store in
            let loaded = try await store.load()
            #expect(loaded == StoredHub())
        }
    }

    @Test(arguments: Engine.allCases)
    func `Registrations of every platform and kind are returned unchanged, in row order`(
        engine: Engine
    ) async throws {
        var registrations = Samples.handles.enumerated().map { number, handle in
            Registration(
                id: Samples.id(number), etag: number, expiration: HubBench.startTime + .milliseconds(number), updatedAt: HubBench.startTime,
                description: RegistrationDescription(handle: handle, tags: []))
        }
        for (number, template) in try Samples.templates().enumerated() {
            let handle = try #require(Samples.handles.first { $0.platform == template.platform })
            registrations.append(
                Registration(
                    id: Samples.id(100 + number), etag: .max, expiration: Timestamp(milliseconds: .max),
                    updatedAt: Timestamp(milliseconds: .min),
                    description: RegistrationDescription(
                        handle: handle,
                        tags: [try Tag("Größe"), try Tag("größe_2"), try Tag("$InstallationId:{a=b.c:d}"), try Tag("e\u{301}")],
                        template: template, pushVariables: ["a": Samples.oddText, Samples.oddText: "", "e\u{301}": "1"],
                        secondaryTile: Samples.oddText), installationID: Samples.oddText))
        }
        let puts =
            registrations.enumerated().map { RegistrationRow(row: UInt32($0 * 7), registration: $1) }
            + [RegistrationRow(row: .max, registration: Samples.registration(999))]
        try await engine.runHub { store in
            try await store.commit(RegistrationChange(puts: puts.reversed()))
            let loaded = try await store.load()
            #expect(loaded.registrations == puts)
            for (kept, put) in zip(loaded.registrations, puts) {
                #expect(kept.registration.tags.map(\.text) == put.registration.tags.map(\.text))
                #expect(kept.registration.template?.body == put.registration.template?.body)
                #expect(
                    kept.registration.installationID.map { Array($0.utf8) } == put.registration.installationID.map { Array($0.utf8) })
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `Installations are returned with all of their fields`(engine: Engine) async throws {
        let puts = [
            InstallationRow(row: 0, installation: Installation(id: "", handle: .phone(1)), expiration: .distantFuture),
            InstallationRow(row: 1, installation: try Samples.installation(), expiration: HubBench.startTime),
        ]
        try await engine.runHub { store in
            try await store.commit(RegistrationChange(installationPuts: puts))
            #expect(try await store.load().installations == puts)
            let changed = InstallationRow(row: 0, installation: try Samples.installation("1"), expiration: HubBench.startTime)
            try await store.commit(RegistrationChange(installationRemovals: [1, 5], installationPuts: [changed]))
            #expect(try await store.load().installations == [changed])
            try await store.commit(RegistrationChange(installationRemovals: [0], installationPuts: [changed]))
            #expect(try await store.load().installations == [changed])
        }
    }

    @Test(arguments: Engine.allCases)
    func `A removed registration can be found as long as its departure is stored, and not after it returns`(engine: Engine) async throws {
        try await engine.run { storage in
            let (store, other) = (storage.namespace.store(ofHub: 1), storage.namespace.store(ofHub: 2))
            var rows = (1...4).map { Samples.put(UInt32($0), $0) }
            rows[1].registration.installationID = "pad"
            rows[2].registration.installationID = "pad"
            rows[2].registration.handle = rows[1].registration.handle
            for store in [store, other] { try await store.commit(RegistrationChange(puts: rows)) }
            let removals = rows.map { row in
                RemovedRegistration(
                    row: row.row, id: row.registration.id,
                    tombstone: RegistrationTombstone(
                        .invalidHandle(InvalidHandleReport(row.registration.platform, reason: "dead")),
                        at: HubBench.startTime + .seconds(Int(row.row))))
            }
            try await store.commit(RegistrationChange(removals: removals + [Samples.removal(9, 9, .deleted)]))
            func left(_ subject: DeletedRegistrationFilter, limit: Int = 9) async throws -> [DeletedRegistration] {
                try await store.deletedRegistrations(subject, limit: limit)
            }
            let expected = zip(rows, removals).map { row, removal in
                DeletedRegistration(
                    id: removal.id, tombstone: removal.tombstone, handle: row.registration.handle, expiration: row.registration.expiration,
                    installationID: row.registration.installationID)
            }
            #expect(try await left(.installation("pad")) == [expected[2], expected[1]])
            #expect(try await left(.installation("pad"), limit: 1) == [expected[2]])
            #expect(try await left(.handle(rows[1].registration.handle)) == [expected[2], expected[1]])
            #expect(try await left(.handle(rows[0].registration.handle)) == [expected[0]])
            #expect(try await left(.registration(rows[3].registration.id)) == [expected[3]])
            // Nothing is known about a registration that was in no row.
            #expect(try await left(.registration(Samples.id(9))).isEmpty)
            #expect(try await left(.installation("Pad")).isEmpty)
            #expect(try await left(.handle(.phone(77))).isEmpty)
            #expect(try await other.deletedRegistrations(.installation("pad"), limit: 9).isEmpty)
            try await store.commit(RegistrationChange(puts: [rows[1]]))
            #expect(try await left(.installation("pad")) == [expected[2]])
            #expect(try await store.removeTombstones(before: HubBench.startTime + .seconds(4), limit: 99) >= 2)
            #expect(try await left(.installation("pad")).isEmpty)
            #expect(try await left(.registration(rows[3].registration.id)) == [expected[3]])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Single rows are returned in the requested order, and empty rows are left out`(
        engine: Engine
    ) async throws {
        let handle = try #require(Samples.handles.first { $0.platform == .wns })
        let whole = Registration(
            id: Samples.id(7), etag: 3, expiration: HubBench.startTime, updatedAt: HubBench.startTime,
            description: RegistrationDescription(
                handle: handle, tags: [try Tag("Größe"), try Tag("$UserId:{a=b}")],
                template: try Samples.templates().first { $0.platform == .wns }, pushVariables: ["a": Samples.oddText],
                secondaryTile: "tile"), installationID: Samples.oddText)
        let puts = [Samples.put(0, 1), RegistrationRow(row: 3, registration: whole), Samples.put(70_000, 2)]
        let installations = [
            InstallationRow(row: 2, installation: try Samples.installation(), expiration: HubBench.startTime),
            InstallationRow(row: 5, installation: Installation(id: "pad", handle: .phone(1)), expiration: .distantFuture),
        ]
        try await engine.runHub { store in
            try await store.commit(RegistrationChange(puts: puts, installationPuts: installations))
            #expect(try await store.registrations(at: []).isEmpty)
            #expect(try await store.registrations(at: [0, 1, 3, 70_000, .max]) == puts)
            #expect(try await store.registrations(at: [70_000, 0]) == [puts[2], puts[0]])
            #expect(try await store.installations(at: [5, 3, 2]) == installations.reversed())
            try await store.commit(
                RegistrationChange(removals: [Samples.removal(0, 1)], installationRemovals: [5], puts: [Samples.put(3, 9)]))
            #expect(try await store.registrations(at: [0, 3]) == [Samples.put(3, 9)])
            #expect(try await store.installations(at: [2, 5]) == [installations[0]])
        }
    }

    @Test(arguments: Engine.allCases)
    func `A stored row replaces its previous content`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.commit(RegistrationChange(puts: [Samples.put(0, 1), Samples.put(1, 2)]))
            try await store.commit(RegistrationChange(puts: [Samples.put(0, 1, etag: 2)]))
            #expect(try await store.load().registrations == [Samples.put(0, 1, etag: 2), Samples.put(1, 2)])
            try await store.commit(RegistrationChange(puts: [Samples.put(1, 3)]))
            #expect(try await store.load().registrations == [Samples.put(0, 1, etag: 2), Samples.put(1, 3)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Two registrations swap rows, and one moves`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.commit(RegistrationChange(puts: [Samples.put(0, 1), Samples.put(1, 2)]))
            try await store.commit(RegistrationChange(puts: [Samples.put(0, 2), Samples.put(1, 1)]))
            #expect(try await store.load().registrations == [Samples.put(0, 2), Samples.put(1, 1)])
            try await store.commit(RegistrationChange(puts: [Samples.put(5, 1)]))
            #expect(try await store.load().registrations == [Samples.put(0, 2), Samples.put(5, 1)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `A registration is removed with a reason, its row is reused, and a removed id can return`(
        engine: Engine
    ) async throws {
        try await engine.runHub { store in
            try await store.commit(RegistrationChange(puts: [Samples.put(0, 1), Samples.put(1, 2), Samples.put(2, 3), Samples.put(3, 4)]))
            let removals = [
                Samples.removal(0, 1), Samples.removal(1, 2, .expired, after: 1),
                Samples.removal(2, 3, .invalidHandle(InvalidHandleReport(.apns, reason: "Unregistered \(Samples.oddText)")), after: 2),
                Samples.removal(3, 4, .installationChanged, after: 3),
            ]
            try await store.commit(RegistrationChange(removals: removals, puts: [Samples.put(0, 5)]))
            var loaded = try await store.load()
            #expect(loaded.registrations == [Samples.put(0, 5)])
            #expect(loaded.tombstones == Dictionary(uniqueKeysWithValues: removals.map { ($0.id, $0.tombstone) }))
            try await store.commit(RegistrationChange(puts: [Samples.put(9, 1)]))
            loaded = try await store.load()
            #expect(loaded.registrations == [Samples.put(0, 5), Samples.put(9, 1)])
            #expect(loaded.tombstones[Samples.id(1)] == nil && loaded.tombstones.count == 3)
            // Removed and added again in one change, in another row.
            try await store.commit(RegistrationChange(removals: [Samples.removal(9, 1)], puts: [Samples.put(2, 1)]))
            loaded = try await store.load()
            #expect(loaded.registrations == [Samples.put(0, 5), Samples.put(2, 1)])
            #expect(loaded.tombstones[Samples.id(1)] == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `An id that is removed twice has its last departure`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.commit(RegistrationChange(removals: [Samples.removal(0, 1)]))
            let again = Samples.removal(0, 1, .expired, after: 9)
            try await store.commit(RegistrationChange(removals: [again]))
            #expect(try await store.load().tombstones == [Samples.id(1): again.tombstone])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Departures are deleted oldest first, in portions, and those at the exact time remain`(engine: Engine) async throws {
        try await engine.runHub { store in
            let removals = (0..<5).map { Samples.removal(UInt32($0), $0, after: Int64($0)) }
            try await store.commit(RegistrationChange(removals: removals.reversed()))
            let time = HubBench.startTime + .seconds(4)
            #expect(try await store.removeTombstones(before: time, limit: 3) == 3)
            #expect(Set(try await store.load().tombstones.keys) == [Samples.id(3), Samples.id(4)])
            #expect(try await store.removeTombstones(before: time, limit: 3) == 1)
            #expect(try await store.removeTombstones(before: time, limit: 3) == 0)
            #expect(Set(try await store.load().tombstones.keys) == [Samples.id(4)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `A last outcome belongs to a registration, not to its row`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.commit(RegistrationChange(puts: (0..<5).map { Samples.put(UInt32($0), $0) }))
            _ = try await store.accept(try Samples.notification(1))
            try await store.record(
                try Samples.ended(1, lastOutcomes: [0: .success, 1: .wrongToken, 2: .dropped, 3: .throttled, 77: .success]))
            #expect(try await store.load().lastOutcomes == [0: .success, 1: .wrongToken, 2: .dropped, 3: .throttled])
            // An update preserves it. A removal or another registration in the row deletes it.
            try await store.commit(
                RegistrationChange(removals: [Samples.removal(1, 1)], puts: [Samples.put(0, 0, etag: 2), Samples.put(2, 22)]))
            try await store.commit(RegistrationChange(puts: [Samples.put(1, 11), Samples.put(77, 77)]))
            #expect(try await store.load().lastOutcomes == [0: .success, 3: .throttled])
            // A registration that moves to another row loses it.
            try await store.commit(RegistrationChange(puts: [Samples.put(8, 3)]))
            #expect(try await store.load().lastOutcomes == [0: .success])
        }
    }

    @Test(arguments: Engine.allCases)
    func `The rows of a hub are invisible to other hubs`(engine: Engine) async throws {
        try await engine.run { storage in
            let (first, second) = (storage.namespace.store(ofHub: 1), storage.namespace.store(ofHub: 2))
            try await first.commit(RegistrationChange(puts: [Samples.put(0, 1)]))
            try await second.commit(RegistrationChange(removals: [Samples.removal(0, 1)], puts: [Samples.put(1, 1, etag: 7)]))
            _ = try await first.accept(try Samples.notification(1, key: "key"))
            #expect(try await second.accept(try Samples.notification(1, key: "key", fingerprint: 1)) == .accepted)
            #expect(try await first.load().registrations == [Samples.put(0, 1)])
            #expect(try await second.load().registrations == [Samples.put(1, 1, etag: 7)])
            #expect(try await first.removeEnded(before: .distantFuture, limit: 9) == 0)
            #expect(try await storage.namespace.store(ofHub: 1).load().registrations.count == 1)
        }
    }
}
