import Crypto
import GRDB
import PushModel
import Support
import Testing

@testable import Storage

/// Sealed storage of secrets.
@Suite struct SealedSecretsTests {
    private static let text = Array("a secret".utf8)
    private static let field = SealedField.hub(7)

    // MARK: - The sealed form

    @Test func `The sealed form is a version, the id of the key, 24 random bytes, AES-GCM's ciphertext and its tag`() throws {
        let sealed = try SecretSeal.test.seal(Self.text, for: Self.field)
        #expect(sealed.count == Self.text.count + 49 && SecretSeal.overhead == 49)
        #expect(sealed[0] == 1)
        let file = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: file, info: Array(purpose.utf8), outputByteCount: 32)
        }
        let id = derived("PushHost secrets at rest 1: key id").withUnsafeBytes { Array($0.prefix(8)) }
        #expect(Array(sealed[1..<9]) == id)
        let key = HKDF<SHA256>.expand(
            pseudoRandomKey: derived("PushHost secrets at rest 1"), info: sealed[9..<21], outputByteCount: 32)
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: sealed[21..<33]), ciphertext: sealed[33..<41], tag: sealed[41...])
        let opened = try AES.GCM.open(box, using: key, authenticating: sealed[..<9] + Array(#"["hub","secrets",7]"#.utf8))
        #expect(Array(opened) == Self.text)
    }

    @Test func `A sealed value opens unchanged; sealing it twice differs, and a changed one does not open`() throws {
        let seal = SecretSeal.test
        for text in [[], Self.text, [UInt8](repeating: 0, count: 100_000)] {
            #expect(try seal.open(seal.seal(text, for: Self.field), of: Self.field) == text)
        }
        let sealed = try seal.seal(Self.text, for: Self.field)
        #expect(try seal.seal(Self.text, for: Self.field) != sealed)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: UnreadableValue.self, "\(index)") { try seal.open(changed, of: Self.field) }
            #expect(throws: UnreadableValue.self) { try seal.open(Array(sealed[..<index]), of: Self.field) }
        }
        #expect(throws: UnreadableValue.self) { try SecretSeal.keyed(8).open(sealed, of: Self.field) }
    }

    @Test func `A sealed value does not open in another field`() throws {
        let fields: [SealedField] = [
            .namespace, .hub(1), .hub(2), .providerToken("a"), .providerToken("b"), .job("a", hub: 1), .job("a", hub: 2), .job("b", hub: 1),
            .value("a", space: "s"), .value("a", space: "t"), .value("b", space: "s"), .value("", space: "s\",\"a"),
        ]
        for (number, field) in fields.enumerated() {
            let sealed = try SecretSeal.test.seal(Self.text, for: field)
            for (other, moved) in fields.enumerated() {
                #expect(((try? SecretSeal.test.open(sealed, of: moved)) != nil) == (number == other), "\(field) \(moved)")
            }
        }
    }

    // MARK: - Rows

    /// A database with two secrets in every sealed field, so that one can replace the other.
    private func filled() async throws -> Bench {
        let bench = try await Bench()
        let storage = bench.storage
        func rule(_ number: Int) -> AuthorizationRule {
            var rule = Samples.rule("Rule", [.send])
            (rule.primaryKey, rule.secondaryKey) = (Secret("planted-hub-primary \(number)"), Secret("planted-hub-secondary"))
            return rule
        }
        try await storage.namespace.putRules([rule(0)])
        for number in 1...2 {
            var hub = Samples.hub(Int64(number))
            let credential = PlatformCredential(properties: [("Token", Secret("planted-credential \(number)"))])
            hub.description = HubDescription(rules: [rule(number)], credentials: [.apns: credential])
            try await storage.namespace.putHub(hub)
            try await storage.providerTokens.put(
                ProviderToken(token: Secret("planted-token"), issuedAt: HubBench.startTime), for: "team-\(number)")
            try await storage.keyValues.space("plugin").put("planted-value", for: "k\(number)")
            try await storage.namespace.store(ofHub: 1).putJob(
                NotificationHubJob(
                    id: "job-\(number)", kind: .exportRegistrations, outputContainerURI: "planted-address", createdAt: HubBench.startTime,
                    progress: NotificationHubJob.Progress(status: .running, updatedAt: HubBench.startTime)))
        }
        #expect(try await storage.keyValues.space("plugin").take(["d"], "1", of: 1) == [true])
        try await storage.namespace.store(ofHub: 1).commit(RegistrationChange(puts: [Samples.put(0, 1)]))
        return bench
    }

    @Test func `Secrets are sealed in pages, log and backups`() async throws {
        let bench = try await filled()
        try await bench.storage.backup(to: bench.folder.file("backup.db"))
        #expect(bench.folder.files.contains("hub.db-wal"))
        #expect(try ClearSecrets.found(in: bench.folder) == [:])
        try await bench.storage.close()
        #expect(try ClearSecrets.found(in: bench.folder) == [:])
    }

    @Test func `A sealed value moved to another row is rejected with the name of the row`() async throws {
        let moves: [(sql: String, name: String, read: @Sendable (SQLiteStorage) async throws -> Void)] = [
            (
                "UPDATE hub SET secrets = (SELECT secrets FROM hub WHERE number = 2) WHERE number = 1", "hub 1",
                { _ = try await $0.namespace.load() }
            ),
            (
                "UPDATE namespace SET secrets = (SELECT secrets FROM hub WHERE number = 2)", "the row of the namespace",
                { _ = try await $0.namespace.load() }
            ),
            (
                "UPDATE hub SET description = replace(description, 'Rule', 'Ruler')", "hub 1", { _ = try await $0.namespace.load() }
            ),
            (
                "UPDATE provider_token SET secrets = (SELECT secrets FROM provider_token WHERE key = 'team-2') WHERE key = 'team-1'",
                "the token for a push service of the key team-1", { _ = try await $0.providerTokens.token("team-1") }
            ),
            (
                "UPDATE job SET secrets = (SELECT secrets FROM job WHERE id = 'job-2') WHERE id = 'job-1'", "the job job-1 of hub 1",
                { _ = try await $0.namespace.store(ofHub: 1).job("job-1") }
            ),
            (
                "UPDATE key_value SET content = (SELECT content FROM key_value WHERE key = CAST('k2' AS BLOB)) "
                    + "WHERE key = CAST('k1' AS BLOB)", "the entry \"k1\" of the space \"plugin\"",
                { _ = try await $0.keyValues.space("plugin").value("k1") }
            ),
        ]
        for (sql, name, read) in moves {
            let bench = try await filled()
            try await read(bench.storage)
            try await bench.execute(sql)
            let error = await refusal { try await read(bench.storage) }
            #expect(error?.code == "storage.corrupt" && error?.message.hasPrefix(name) == true, "\(error?.message ?? "") for \(sql)")
            try await bench.storage.close()
        }
    }

    // MARK: - Another key

    @Test func `A database sealed with another key is rejected and left unchanged`() async throws {
        let bench = try await filled()
        try await bench.storage.close()
        let (path, before) = (bench.folder.file("hub.db"), try bench.folder.bytes(of: "hub.db"))
        let error = await refusal { try await SQLiteStorage.open(path, seal: .keyed(8)) }
        #expect(error?.code == "storage.sealed" && error?.message.contains(path) == true && error?.hint != nil)
        #expect(try bench.folder.bytes(of: "hub.db") == before)
        // It can be copied without a key.
        try await SQLiteStorage.copy(path, to: bench.folder.file("copy.db"))
        let copy = try await SQLiteStorage.open(bench.folder.file("copy.db"))
        #expect(try await copy.providerTokens.token("team-1")?.token.reveal() == "planted-token")
        try await copy.close()
    }

    @Test func `A backup with another key is rejected without changes; renewed, it has new access keys and no credentials`()
        async throws
    {
        let source = try await filled()
        let backup = source.folder.file("backup.db")
        try await source.storage.backup(to: backup)
        let before = try await source.storage.namespace.load()
        try await source.storage.close()
        let folder = try Folder()
        let storage = try await SQLiteStorage.open(folder.file("hub.db"), seal: .keyed(8))
        try await storage.namespace.putHub(Samples.hub(9))
        let error = await refusal { try await storage.restore(from: backup) }
        #expect(error?.code == "storage.sealed" && error?.message.contains(backup) == true)
        #expect(try await storage.namespace.load().hubs.map(\.number) == [9])
        let now = HubBench.startTime + .seconds(60)
        let renewed = try await storage.restore(from: backup, .renewed(at: now)) {}
        try await expectRenewed(storage, before, renewed, now)
        try await storage.close()
    }

    @Test func `Lost secrets of a database are renewed in the file, which then opens with the new key`() async throws {
        let bench = try await filled()
        let (path, now) = (bench.folder.file("hub.db"), HubBench.startTime + .seconds(60))
        let before = try await bench.storage.namespace.load()
        try await bench.storage.close()
        let untouched = try await SQLiteStorage.renewSecrets(of: path, seal: .test, now: now)
        #expect(untouched.isEmpty)
        let renewed = try await SQLiteStorage.renewSecrets(of: path, seal: .keyed(8), now: now)
        let storage = try await SQLiteStorage.open(path, seal: .keyed(8))
        try await expectRenewed(storage, before, renewed, now)
        try await storage.close()
        #expect(await refusal { try await SQLiteStorage.open(path) }?.code == "storage.sealed")
    }

    /// Expects new values of the access keys under the same names and rights, and unchanged devices and slots.
    private func expectRenewed(
        _ storage: SQLiteStorage, _ before: StoredNamespace, _ renewed: RenewedSecrets, _ now: Timestamp
    ) async throws {
        let after = try await storage.namespace.load()
        #expect(after.hubs.map(\.name) == before.hubs.map(\.name))
        let rules = zip(before.rules + before.hubs.flatMap(\.description.rules), after.rules + after.hubs.flatMap(\.description.rules))
        #expect(Array(rules).count == 3)
        for (old, new) in rules {
            #expect(new.name == old.name && new.rights == old.rights && new.createdAt == old.createdAt && new.modifiedAt == now)
            #expect(new.primaryKey != old.primaryKey && new.secondaryKey != old.secondaryKey && new.primaryKey != new.secondaryKey)
            #expect(new.primaryKey.reveal().utf8.count == 44)
        }
        #expect(after.hubs.allSatisfy { $0.description.credentials.isEmpty })
        #expect(renewed.keys == ["Rule"] && renewed.tokens == 2 && renewed.values == ["plugin": 2] && renewed.jobs == 2)
        #expect(renewed.hubs.map(\.credentials) == [["Apns"], ["Apns"]] && renewed.hubs.map(\.name) == ["hub-1", "hub-2"])
        #expect(try await storage.providerTokens.token("team-1") == nil)
        let (space, store) = (storage.keyValues.space("plugin"), storage.namespace.store(ofHub: 1))
        #expect(try await space.value("k1") == nil)
        #expect(try await space.usage().entries == 1)
        #expect(try await space.take(["d"], "2", of: 1) == [false])
        let job = try await store.job("job-1")
        #expect(job?.status == .failed && job?.failure != nil && job?.outputContainerURI.isEmpty == true)
        #expect(try await store.load().registrations == [Samples.put(0, 1)])
    }

    @Test func `A single row that does not open is renewed, and the others are left unchanged`() async throws {
        let bench = try await filled()
        let before = try await bench.storage.namespace.load()
        try await bench.execute("UPDATE hub SET secrets = x'01' WHERE number = 2")
        try await bench.storage.close()
        let renewed = try await SQLiteStorage.renewSecrets(of: bench.folder.file("hub.db"), seal: .test, now: HubBench.startTime)
        #expect(renewed.hubs.map(\.name) == ["hub-2"] && renewed.keys.isEmpty && renewed.tokens == 0)
        let storage = try await SQLiteStorage.open(bench.folder.file("hub.db"))
        let after = try await storage.namespace.load()
        #expect(after.rules == before.rules && after.hubs[0] == before.hubs[0] && after.hubs[1] != before.hubs[1])
        try await storage.close()
    }
}
