import PushModel
import Storage
import Support
import Testing

@Suite struct NamespaceStoreTests {
    @Test(arguments: Engine.allCases)
    func `A new namespace is empty`(engine: Engine) async throws {
        try await engine.run { storage in
            let loaded = try await storage.namespace.load()
            #expect(loaded == StoredNamespace())
        }
    }

    @Test(arguments: Engine.allCases)
    func `Hubs are returned in the order of their numbers, with all properties`(engine: Engine) async throws {
        var full = Samples.hub(7, name: "a/b/c \(Samples.oddText)")
        full.description = HubDescription(
            registrationTTL: Duration(secondsComponent: 922_337_203_685, attosecondsComponent: 477_580_700_000_000_000),
            rules: [Samples.rule("Default", [.listen, .manage, .send]), Samples.rule(Samples.oddText, [])],
            credentials: Dictionary(
                uniqueKeysWithValues: PlatformCredential.Kind.allCases.map { kind in
                    let properties = [(kind.rawValue, Secret(Samples.oddText)), ("AppId", Secret("")), ("appid", Secret("2"))]
                    return (kind, PlatformCredential(properties: properties.map { (name: $0.0, value: $0.1) }))
                }), userMetadata: Samples.oddText, quotas: [.operations: .max, .activeDevices: 0, .activeRegistrations: -1])
        full.updatedAt = .distantFuture
        try await engine.run { storage in
            try await storage.namespace.putHub(full)
            try await storage.namespace.putHub(Samples.hub(3))
            #expect(try await storage.namespace.load() == StoredNamespace(hubs: [Samples.hub(3), full], lastNumber: 7))
            var changed = full
            changed.description = HubDescription()
            try await storage.namespace.putHub(changed)
            #expect(try await storage.namespace.load().hubs == [Samples.hub(3), changed])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Hub names are unique, in any letter case`(engine: Engine) async throws {
        try await engine.run { storage in
            try await storage.namespace.putHub(Samples.hub(1, name: "Parcels"))
            #expect(await refusal { try await storage.namespace.putHub(Samples.hub(2, name: "pARCELS")) }?.code == "storage.conflict")
            try await storage.namespace.putHub(Samples.hub(1, name: "parcels"))
            try await storage.namespace.removeHub(1)
            try await storage.namespace.putHub(Samples.hub(2, name: "PARCELS"))
            #expect(try await storage.namespace.load().hubs.map(\.name) == ["PARCELS"])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Rules replace the previous rules`(engine: Engine) async throws {
        try await engine.run { storage in
            let rules = [Samples.rule("Root", [.manage]), Samples.rule(Samples.oddText, [.listen, .send])]
            try await storage.namespace.putRules(rules)
            #expect(try await storage.namespace.load().rules == rules)
            try await storage.namespace.putRules([rules[1]])
            #expect(try await storage.namespace.load().rules == [rules[1]])
        }
    }

    @Test(arguments: Engine.allCases)
    func `A hub is removed with everything that belongs to it, and its number is not used again`(engine: Engine) async throws {
        try await engine.run { storage in
            for number in [1, 2] as [Int64] {
                try await storage.namespace.putHub(Samples.hub(number))
                let store = storage.namespace.store(ofHub: number)
                try await store.commit(
                    RegistrationChange(
                        removals: [Samples.removal(9, 9)], puts: (0..<2500).map { Samples.put(UInt32($0), $0) },
                        installationPuts: [
                            InstallationRow(row: 0, installation: try Samples.installation(), expiration: .distantFuture)
                        ]))
                _ = try await store.accept(try Samples.notification(5, key: "key"))
                try await store.record(try Samples.ended(5, devices: [Samples.device(1)], lastOutcomes: [0: .success]))
            }
            let kept = try await storage.namespace.store(ofHub: 1).load()
            try await storage.namespace.removeHub(2)
            try await storage.namespace.removeHub(99)
            #expect(try await storage.namespace.load() == StoredNamespace(hubs: [Samples.hub(1)], lastNumber: 2))
            #expect(try await storage.namespace.store(ofHub: 2).load() == StoredHub())
            #expect(try await storage.namespace.store(ofHub: 2).notifications(before: nil, limit: 9).isEmpty)
            #expect(try await storage.namespace.store(ofHub: 2).devices(ofNotification: 5, from: 0, limit: 9).isEmpty)
            #expect(try await storage.namespace.store(ofHub: 1).load() == kept)
        }
    }
}
