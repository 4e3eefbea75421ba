import GRDB
import PushModel
import Support
import Testing

@testable import Storage

/// Why older versions removed registrations, in their words.
@Suite struct CauseMigrationTests {
    private static let details: [(id: String, detail: String, platform: String?, report: InvalidHandleReport)] = [
        ("1-1-1", "Web Push answered that its handle is dead", nil, InvalidHandleReport(.browser, reason: "")),
        ("2-2-1", "FCM answered UNREGISTERED", "fcmv1", InvalidHandleReport(.fcmV1, reason: "UNREGISTERED")),
        ("3-3-1", "GCM answered that its handle is invalid", nil, InvalidHandleReport(.gcm, reason: "")),
        ("4-4-1", "APNs answered a question", nil, InvalidHandleReport(.apns, reason: "a question")),
        ("5-5-1", "gone", nil, InvalidHandleReport(nil, reason: "gone")),
    ]

    @Test func `The reports of push services become values, and another text stays the reason`() async throws {
        let folder = try Folder()
        let (path, version) = (folder.file("hub.db"), SchemaVersion.notices)
        try await version.make(path)
        try await SchemaVersion.change(path) { database in
            for (id, detail, platform, _) in Self.details {
                try database.run(
                    "INSERT INTO departure (hub, id, time, reason, detail, platform) VALUES (1, ?, 1, 'handleDied', ?, ?)", id, detail,
                    platform)
            }
        }
        let storage = try await SQLiteStorage.open(path, seal: try version.seal())
        let tombstones = try await storage.namespace.store(ofHub: 1).load().tombstones
        for (id, _, _, report) in Self.details {
            #expect(tombstones[try #require(RegistrationID(id))]?.reason == .invalidHandle(report))
        }
        #expect(InvalidHandleReport(.browser, reason: "").text == "Web Push answered that its handle is invalid")
        #expect(InvalidHandleReport(.apns, reason: "Unregistered").text == "APNs answered Unregistered")
        try await storage.close()
    }
}
