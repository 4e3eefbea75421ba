import GRDB
import PushModel
import Support
import Testing

@testable import Storage

/// Databases and backups of every version of the schema: all rows are returned as they were written.
@Suite struct SchemaVersionTests {
    @Test(arguments: SchemaVersion.allCases)
    func `A database of every version is opened with its full content`(version: SchemaVersion) async throws {
        let folder = try Folder()
        let (path, seal) = (folder.file("hub.db"), try version.seal())
        try await version.make(path)
        let identity = version >= .sealedSecrets ? DatabaseIdentity(number: 1_234_567_890) : nil
        #expect(try await SQLiteStorage.examine(path, DatabaseMark(isUsed: true)) == .present(identity))
        let storage = try await SQLiteStorage.open(path, seal: seal)
        #expect(storage.residue == nil)
        try await VersionContent(version: version, isRestored: false).expect(in: storage)
        try await storage.checkPages()
        try await storage.close()
        let sealing = try #require(try await SQLiteStorage.sealing(of: path))
        #expect(sealing.isSealed(with: seal) && sealing.isClean)
    }

    @Test(arguments: SchemaVersion.allCases)
    func `A backup of every version is restored with its full content and is left unchanged`(version: SchemaVersion) async throws {
        let folder = try Folder()
        let backup = folder.file("backup.db")
        try await version.make(backup)
        let original = try folder.bytes(of: "backup.db")
        let storage = try await SQLiteStorage.open(folder.file("hub.db"), seal: try version.seal())
        try await storage.namespace.putHub(Samples.hub(7))
        try await storage.restore(from: backup)
        try await VersionContent(version: version, isRestored: true).expect(in: storage)
        try await storage.checkPages()
        try await storage.close()
        #expect(try folder.bytes(of: "backup.db") == original)
    }

    @Test(arguments: SchemaVersion.allCases)
    func `A database of every version has the same rows when it is opened again`(version: SchemaVersion) async throws {
        let folder = try Folder()
        let (path, seal) = (folder.file("hub.db"), try version.seal())
        try await version.make(path)
        try await SQLiteStorage.open(path, seal: seal).close()
        let rows = try await Self.rows(path)
        #expect(rows["registration"]?.count == 7 && rows["grdb_migrations"]?.count == SQLiteSchema.migrator.migrations.count)
        let storage = try await SQLiteStorage.open(path, seal: seal)
        try await VersionContent(version: version, isRestored: false).expectHubs(in: storage)
        try await storage.close()
        #expect(try await Self.rows(path) == rows)
    }

    /// The rows of each table as SQL literals.
    private static func rows(_ path: String) async throws -> [String: [String]] {
        try await SchemaVersion.read(path) { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
            var rows: [String: [String]] = [:]
            for table in tables {
                let values = try database.columns(in: table).map { "quote(\"\($0.name)\")" }.joined(separator: " || ', ' || ")
                rows[table] = try String.fetchAll(database, sql: "SELECT \(values) FROM \(table) ORDER BY 1")
            }
            return rows
        }
    }

    @Test(arguments: SchemaVersion.allCases)
    func `A database and a backup with an unknown migration are rejected and left unchanged`(version: SchemaVersion) async throws {
        let folder = try Folder()
        let (path, seal) = (folder.file("hub.db"), try version.seal())
        try await version.make(path)
        try await SchemaVersion.change(path) {
            try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('tables of tomorrow')")
        }
        let before = try folder.bytes(of: "hub.db")
        let other = try await SQLiteStorage.open(folder.file("other.db"), seal: seal)
        for error in [
            await refusal { try await SQLiteStorage.open(path, seal: seal) }, await refusal { try await other.restore(from: path) },
        ] {
            #expect(error?.code == "storage.newer_schema")
            #expect(error?.message == "the database \(path) was written by a newer version of PushHost")
            #expect(error?.hint == "use that version, or another file")
        }
        try await other.close()
        #expect(try folder.bytes(of: "hub.db") == before)
    }

    @Test func `Every version has a file, with the migrations in their order, and the last one has all of them`() async throws {
        #expect(try SchemaVersion.files() == SchemaVersion.allCases.map(\.rawValue).sorted())
        let migrations = SQLiteSchema.migrator.migrations
        var counts: [Int] = []
        for version in SchemaVersion.allCases {
            let folder = try Folder()
            try await version.make(folder.file("hub.db"))
            let applied = try await SchemaVersion.read(folder.file("hub.db")) { database in
                try String.fetchAll(database, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
            }
            #expect(applied == Array(migrations.prefix(applied.count)), "\(version)")
            #expect(version.rawValue.hasPrefix(applied.count.padded(2)), "\(version)")
            counts.append(applied.count)
        }
        #expect(counts == counts.sorted())
        #expect(counts.last == migrations.count, "add a file for the new version of the schema")
    }
}
