import PushHub
import PushModel
import Support
import Testing

@testable import Storage

/// Traces of the notifications in databases and backups of every version of the schema: a sentence that the version stored is recognized.
@Suite struct VersionTraceTests {
    private static func hub(over storage: SQLiteStorage) async throws -> NotificationHub {
        let store = storage.namespace.store(ofHub: 1)
        let environment = HubEnvironment(
            clock: VirtualClock(now: HubBench.startTime + .seconds(300)), random: SeededRandom(seed: 1),
            start: { work in Task { await work() } }
        )
        return NotificationHub(environment: environment, connectors: [], store: store, loaded: try await store.load(into: HubLoader()))
    }

    /// The causes that the results of the first notification have, with the ends of their sentences.
    private static func ends(_ version: SchemaVersion) -> [TraceCause: String] {
        var ends: [TraceCause: String] = [
            .accepted: "; what a real phone does with it is known only to the phone.",
            .tokenDead: " because APNs reported its address as invalid (Unregistered).",
            .duplicate:
                "pc is registered twice with the same address, and the notification went out through the other one, "
                + "which has been removed.",
            .noAnswer: "APNs never responded, so it is unknown whether 1000016-2000016-1 got it.",
            .abandoned: ", before the notification was sent to 1000017-2000017-1: the delivery was cancelled.",
        ]
        if version >= .batches { ends[.registrationLeft] = ", after the notification was sent, and its registration is no longer stored." }
        if version >= .plugins { ends[.vetoed] = "The plugin quiet blocked it for 1000018-2000018-1: at night." }
        return ends
    }

    private static func expectTraces(_ version: SchemaVersion, in storage: SQLiteStorage) async throws {
        let hub = try await hub(over: storage)
        let counts = try await hub.trace(TraceQuestion(notification: VersionContent.id(1))).counts
        let ends = ends(version)
        #expect(Set(counts.map(\.cause)) == Set(ends.keys))
        for count in counts {
            #expect(count.devices == 1 && count.sentence.hasSuffix(ends[count.cause, default: "?"]), "\(count.sentence)")
        }
        // Each device by itself, with its lines.
        let trace = try await hub.trace(TraceQuestion(notification: VersionContent.id(1), device: "1000013-2000013-1")).traces.first
        #expect(version < .pruned || trace?.cause == .tokenDead)
        let twice = try await hub.trace(TraceQuestion(notification: VersionContent.id(1), device: "pc")).traces.first
        #expect(twice?.cause == .duplicate)
        #expect(twice?.lines.contains { $0.text == "another registration with the same handle received it" } == true)
        let description = RegistrationDescription(handle: .phone(13))
        let gone = await refusal { try await hub.putRegistration(Samples.id(13), description, ifMatch: nil) }
        #expect(gone?.message == "registration id 1000013-2000013-1 was removed: APNs answered Unregistered")
    }

    @Test(arguments: SchemaVersion.allCases)
    func `The results in a database of every version are traced`(version: SchemaVersion) async throws {
        let folder = try Folder()
        let (path, seal) = (folder.file("hub.db"), try version.seal())
        try await version.make(path)
        let storage = try await SQLiteStorage.open(path, seal: seal)
        try await Self.expectTraces(version, in: storage)
        try await storage.close()
    }

    @Test(arguments: SchemaVersion.allCases)
    func `The results in a backup of every version are traced`(version: SchemaVersion) async throws {
        let folder = try Folder()
        try await version.make(folder.file("backup.db"))
        let storage = try await SQLiteStorage.open(folder.file("hub.db"), seal: try version.seal())
        try await storage.restore(from: folder.file("backup.db"))
        try await Self.expectTraces(version, in: storage)
        try await storage.close()
    }

    @Test func `Every cause of this version is traced`() async throws {
        let folder = try Folder()
        let version = SchemaVersion.causes
        try await version.make(folder.file("hub.db"))
        let storage = try await SQLiteStorage.open(folder.file("hub.db"), seal: try version.seal())
        let counts = try await Self.hub(over: storage).trace(TraceQuestion(notification: VersionContent.id(9))).counts
        let expected: [TraceCause: Int] = [
            .accepted: 1, .duplicate: 1, .registrationLeft: 1, .abandoned: 1, .noAnswer: 1, .vetoed: 2, .otherEnvironment: 1,
        ]
        #expect(Dictionary(uniqueKeysWithValues: counts.map { ($0.cause, $0.devices) }) == expected)
        try await storage.close()
    }
}
