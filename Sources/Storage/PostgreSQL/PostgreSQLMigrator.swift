import PushModel

/// Brings the tables of a PostgreSQL database to the version of this program.
struct PostgreSQLMigrator {
    /// Where the database is, for messages.
    let database: String
    var steps = PostgreSQLSchema.steps

    /// PostgreSQL 14.
    private static let oldestServer = 140_000

    /// Creates the tables or migrates those of an older version, step by step, and records the key of the secrets. Programs of the version
    /// before may use the database meanwhile and afterwards.
    ///
    /// Throws `storage.newer_schema` (500) if the tables have changed beyond what this version can use, and `storage.sealed` (409) if the
    /// secrets were sealed with another key.
    func migrate(_ connection: PostgreSQLConnection, _ seal: SecretSeal) throws {
        try checkServer(connection)
        let isNew = try connection.first("SELECT to_regclass('schema_version') IS NULL") { $0.bool(0) } ?? true
        if isNew { try createVersion(connection) }
        try connection.run("INSERT INTO schema_version VALUES (1, 0, 0) ON CONFLICT DO NOTHING")
        while try step(connection) {}
        try PostgreSQLChangeQueue.repeating {
            try connection.transaction(.change) { try record(seal, connection) }
        }
    }

    /// Throws `storage.unavailable` (400) for a database that cannot store every text, and for a server that lacks functions.
    private func checkServer(_ connection: PostgreSQLConnection) throws {
        let server = try connection.first("SELECT current_setting('server_encoding'), current_setting('server_version_num')::int") {
            (encoding: $0.text(0), version: $0.integer(1))
        }
        guard let server else { return }
        guard server.encoding == "UTF8" else {
            throw unusable(
                "the database \(database) stores texts in \(server.encoding)",
                hint: "create it with the encoding UTF8: createdb -E UTF8 -T template0")
        }
        guard server.version >= Self.oldestServer else {
            throw unusable("the server of the database \(database) is older than PostgreSQL 14", hint: "upgrade the server")
        }
    }

    private func unusable(_ message: String, hint: String) -> PushError {
        PushError("storage.unavailable", message, hint: hint, status: 400)
    }

    private func createVersion(_ connection: PostgreSQLConnection) throws {
        do {
            try connection.run(
                """
                CREATE TABLE IF NOT EXISTS schema_version (
                    key bigint PRIMARY KEY CHECK (key = 1), version bigint NOT NULL, bearable_by bigint NOT NULL)
                """)
        } catch let error as PostgreSQLError where ["42P07", "42710", "23505"].contains(error.state) {
            // Another program that started at the same time has created it.
        }
    }

    /// Makes the next step. Returns whether there was one.
    private func step(_ connection: PostgreSQLConnection) throws -> Bool {
        try PostgreSQLChangeQueue.repeating {
            try connection.transaction(.change) {
                // Locked, so that other programs that start now wait.
                let stored = try connection.first("SELECT version, bearable_by FROM schema_version WHERE key = 1 FOR UPDATE") {
                    (version: $0.integer(0), bearableBy: $0.integer(1))
                }
                guard let stored else { throw StorageError.corrupt("the version of the database \(database)", "its row is missing") }
                let known = Int64(steps.count)
                guard stored.bearableBy <= known else { throw newer(stored.version, known) }
                guard stored.version < known else { return false }
                let next = steps[Int(stored.version)]
                for statement in next.statements { try connection.run(statement) }
                try connection.run(
                    "UPDATE schema_version SET version = $1, bearable_by = $2 WHERE key = 1", stored.version + 1, next.bearableBy)
                return true
            }
        }
    }

    private func newer(_ stored: Int64, _ known: Int64) -> PushError {
        PushError(
            "storage.newer_schema",
            "the database \(database) was changed by a newer version of pushhost: it has version \(stored), this one knows \(known)",
            hint: "install the newer version", status: 500)
    }

    private func record(_ seal: SecretSeal, _ connection: PostgreSQLConnection) throws {
        try connection.run("INSERT INTO secret_key (key, id) VALUES (1, $1) ON CONFLICT DO NOTHING", seal.keyID)
        let stored = try connection.first("SELECT id FROM secret_key WHERE key = 1") { $0.bytes(0) } ?? []
        guard stored == seal.keyID else { throw StorageError.sealed(database, keyID: stored, seal, for: .opening) }
    }
}
