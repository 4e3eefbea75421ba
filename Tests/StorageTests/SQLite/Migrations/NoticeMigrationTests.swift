import GRDB
import PushModel
import Support
import Testing

@testable import Storage

/// The migration of notices and limits from sentences to values.
@Suite struct NoticeMigrationTests {
    private static let sentences = [
        "2 devices wait until 2026-01-11T09:00:00.000Z: quiet: until: nine",
        "1 device waits until 2026-01-11T10:00:00.000Z: long",
        "5 devices wait until later moments",
        "at its moment it would have reached 12,430 devices, more than the 1,000 that key:news/ops may reach without leave: nobody got it",
        "at its moment it would have reached 1 device, more than the 0 that anybody may reach without leave: nobody got it",
        "at its moment it would have reached an unknown number of devices, more than the 17 that a-1 allows: nobody got it",
        "the plan p-0001 is lost: nobody gets it",
        "APNs: most handles belong to the sandbox",
        "2 devices wait until Christmas",
        "at its moment it would have reached many devices, more than the sea: nobody got it",
    ]

    /// How the notices are shown now.
    private static let texts: [String] =
        [
            "2 devices wait until 2026-01-11T09:00:00.000Z: quiet: until: nine",
            "1 device waits until 2026-01-11T10:00:00.000Z: long",
            "5 devices wait until later times",
            "not sent: 12,430 devices at the due time, more than the limit of 1,000 for key:news/ops",
            "not sent: 1 device at the due time, more than the server's limit of 0",
            "not sent: an unknown number of devices at the due time, more than the 17 approved by a-1",
            "not sent: cannot read the plan p-0001",
        ] + Array(sentences.suffix(3))

    private static let notices: [Notice] = [
        .deferred(devices: 2, until: Timestamp(milliseconds: 1_768_122_000_000), reason: "quiet: until: nine"),
        .deferred(devices: 1, until: Timestamp(milliseconds: 1_768_125_600_000), reason: "long"),
        .deferred(devices: 5, until: nil, reason: ""),
        .exceededApproval(reach: 12_430, ApprovedReach(devices: 1_000, basis: .ceiling(of: .key("ops", hub: "news")))),
        .exceededApproval(reach: 1, ApprovedReach(devices: 0, basis: .ceiling(of: nil))),
        .exceededApproval(reach: nil, ApprovedReach(devices: 17, basis: .approval("a-1"))),
        .planLost(plan: "p-0001"),
        .text("APNs: most handles belong to the sandbox"),
        .text("2 devices wait until Christmas"),
        .text("at its moment it would have reached many devices, more than the sea: nobody got it"),
    ]

    /// Opens a database of the version with plans in which a notification has these remarks.
    private func opened(_ folder: Folder, remarks: JSON) async throws -> SQLiteStorage {
        let path = folder.file("hub.db")
        let old = try DatabaseQueue(path: path, configuration: SQLiteFile.configuration(readonly: false))
        try await old.write { database in
            try database.execute(sql: OlderDatabase.sendsToPlans)
            try database.execute(sql: "UPDATE notification SET remarks = ? WHERE key = 17592186044418", arguments: [remarks.text()])
        }
        try old.close()
        return try await SQLiteStorage.open(path)
    }

    @Test func `Sentences of older versions become values, and other text stays text`() async throws {
        let folder = try Folder()
        let storage = try await opened(
            folder, remarks: ["notices": .array(Self.sentences.map { .string($0) }), "pruned": ["apns": ["Unregistered": 3]]])
        let outcome = try #require(try await storage.namespace.store(ofHub: 1).notification(2)).outcome
        #expect(outcome.notices == Self.notices)
        #expect(outcome.notices.map(\.text) == Self.texts)
        #expect(outcome.pruned == [.apns: ["Unregistered": 3]])
        try await storage.close()
        // Read again, as this version has stored it.
        let again = try await SQLiteStorage.open(folder.file("hub.db"))
        #expect(try await again.namespace.store(ofHub: 1).notification(2)?.outcome.notices == Self.notices)
        try await again.close()
    }

    @Test func `The approved reach of a scheduled send and the ceiling of an approval are values`() async throws {
        let folder = try Folder()
        let storage = try await opened(folder, remarks: ["pruned": ["apns": ["Unregistered": 3]]])
        let notification = try #require(try await storage.namespace.store(ofHub: 1).notification(2))
        #expect(notification.request.approvedReach == ApprovedReach(devices: 2, basis: .ceiling(of: nil)))
        #expect(try #require(try await storage.approvals.approval(1)).ceiling == Approval.Ceiling(devices: 2, owner: nil))
        try await storage.close()
        withExtendedLifetime(folder) {}
    }

    @Test func `Unreadable remarks are left unchanged, and the rest of the database is opened`() async throws {
        let folder = try Folder()
        let storage = try await opened(folder, remarks: ["notices": 3])
        let store = storage.namespace.store(ofHub: 1)
        #expect(try await store.notification(1)?.outcome.state == .completed)
        await #expect(throws: (any Error).self) { try await store.notification(2) }
        try await storage.close()
        withExtendedLifetime(folder) {}
    }
}
