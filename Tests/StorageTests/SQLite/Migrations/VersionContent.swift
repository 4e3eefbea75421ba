import PushModel
import Support

@testable import Storage

/// The content of the databases in `Fixtures/Versions`, as the stores return it now.
///
/// Values that a version could not store yet are missing from its database: they depend on `version`.
struct VersionContent {
    let version: SchemaVersion
    /// Whether the database was restored from a backup, which ends runs, and drops events and due times.
    let isRestored: Bool

    /// Compares everything that the stores return.
    func expect(in storage: SQLiteStorage) async throws {
        try await expectHubs(in: storage)
        let store = storage.namespace.store(ofHub: 1)
        try await expectDepartures(in: store)
        try await expectNotifications(in: store)
        try await expectEnqueued(in: storage.namespace.store(ofHub: 2))
        try await expectPlans(in: store)
        try await expectOutcomes(in: store)
        try await expectJobs(in: store)
        try await expectRemovals(in: store)
        try await expectAccounts(in: storage)
        try await expectSecurePayloads(in: storage)
        try await expectPlugins(in: storage)
        try await expectAuditTrail(in: storage)
        try await expectApprovals(in: storage)
        try await expectRuns(in: storage)
        try await expectSchedules(in: storage)
    }

    // MARK: - Values that several rows have

    static func at(_ seconds: Int64) -> Timestamp { HubBench.startTime + .seconds(seconds) }

    static func at(milliseconds: Int64) -> Timestamp { HubBench.startTime + .milliseconds(milliseconds) }

    /// The id of a notification.
    static func id(_ sequence: Int64) -> String { "0123456789abcdef0123456789abcdef-20260105090000-\(sequence)-1" }

    static func tags(_ texts: String...) throws -> [Tag] { try texts.map { try Tag($0) } }

    static func audience(_ expression: String) throws -> Audience { .expression(try TagExpression(parsing: expression)) }

    static let baidu = DeviceHandle.baidu(user: "17-8", channel: "9-1")
    static let tile = DeviceHandle.wns(channel: "https://wns.example/?token=tile")
    static let longID = RegistrationID(unchecked: "2791930577995350061-1383940673593449736-1")
}
