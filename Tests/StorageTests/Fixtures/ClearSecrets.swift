import FoundationEssentials
import GRDB
import PushModel
import Support

@testable import Storage

/// The database of a server from before secrets were sealed, as found on the disk after a crash.
struct ClearSecrets {
    /// The text in each secret, and the remains of secrets that were replaced or removed.
    static let planted = [
        "planted-server-primary", "planted-server-secondary", "planted-hub-primary", "planted-hub-secondary", "planted-credential",
        "planted-token", "planted-address", "planted-value", "planted-replaced", "planted-removed",
    ]

    let folder: Folder
    var path: String { folder.file("hub.db") }

    /// - Parameter devices: Number of registrations in the hub.
    init(devices: Int = 0) async throws {
        folder = try Folder()
        let made = try Folder()
        let path = made.file("hub.db")
        let pool = try DatabasePool(path: path, configuration: SQLiteFile.configuration(readonly: false))
        try SQLiteSchema.migrator.migrate(pool, upTo: "sends to plans")
        try await pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA application_id = \(SQLiteSchema.applicationID)")
            // Removed data stays in its page, as with a SQLite that is built without secure deletion.
            try database.execute(sql: "PRAGMA secure_delete = OFF")
            try Self.fill(database, devices)
            try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            try Self.change(database)
        }
        for name in made.files where !name.hasSuffix("-shm") { try folder.write(try made.bytes(of: name), to: name) }
        try pool.close()
    }

    private static func rules(_ prefix: String) -> String {
        #"[{"name":"Rule","rights":["Listen","Send"],"primary":"\#(prefix)-primary","secondary":"\#(prefix)-secondary","#
            + #""created":1,"modified":2,"ceiling":7}]"#
    }

    private static func description(_ secret: String) -> String {
        #"{"ttl":[60,0],"rules":\#(rules("planted-hub")),"credentials":{"Apns":[["Token","\#(secret)"],["KeyId","k"]]},"metadata":"m"}"#
    }

    private static func fill(_ database: Database, _ devices: Int) throws {
        try database.execute(
            sql: """
                UPDATE namespace SET rules = ?, last_hub = 2;
                INSERT INTO hub VALUES (1, 'hub', ?, 1, 2);
                INSERT INTO hub VALUES (2, 'other', ?, 1, 2);
                INSERT INTO provider_token VALUES ('team', 'planted-token', 3);
                INSERT INTO job VALUES (1, 'job-1', 'ExportRegistrations', 'Running', 0, 0, 1, 2, ?);
                INSERT INTO key_value_space VALUES (1, 'plugin', 2, ?, 5);
                INSERT INTO key_value VALUES (1, 1, 0, CAST('k' AS BLOB), 5, NULL, ?);
                """,
            arguments: [
                rules("planted-server"), description("planted-replaced"), description("planted-removed"),
                #"{"output":"http://host/folder?sig=planted-address"}"#, 1 + value.utf8.count + 1 + slots.count, Data(value.utf8),
            ])
        try database.execute(sql: "INSERT INTO key_value VALUES (2, 1, 1, CAST('d' AS BLOB), 0, NULL, ?)", arguments: [Data(slots)])
        for number in 0..<devices {
            try database.execute(
                sql: """
                    INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags)
                    VALUES (1, ?1, (1000000 + ?1) || '-' || (2000000 + ?1) || '-1', 1, 9999999999999, 1, 'apns', ?2, '')
                    """, arguments: [number, String(repeating: "ab", count: 64)])
        }
    }

    /// Changes that are only in the log at the crash, and that leave old secrets in their pages.
    private static func change(_ database: Database) throws {
        try database.execute(sql: "UPDATE hub SET description = ? WHERE number = 1", arguments: [description("planted-credential")])
        try database.execute(sql: "DELETE FROM hub WHERE number = 2")
    }

    static let value = #""planted-value""#
    /// A slot window with one slot taken.
    static var slots: [UInt8] {
        var window = SlotWindow()
        _ = window.decide(SlotWindow.Token("1"), limit: 1, within: .seconds(3600), now: HubBench.startTime)
        return window.packed
    }

    /// The planted texts that occur in files of a folder, with the names of the files.
    static func found(in folder: Folder) throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        for name in folder.files {
            let bytes = try folder.bytes(of: name)
            for text in planted where bytes.contains(text) { found[text, default: []].append(name) }
        }
        return found
    }
}

extension [UInt8] {
    /// Whether the bytes contain a text.
    func contains(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard count >= wanted.count, let first = wanted.first else { return false }
        return (0...count - wanted.count).contains { self[$0] == first && self[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }
}
