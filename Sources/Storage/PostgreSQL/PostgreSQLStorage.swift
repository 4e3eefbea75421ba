package import PushModel

/// Stores everything in a PostgreSQL database. A change that was confirmed is on the disk of the server, and on that of a synchronous
/// standby if the server has one.
package struct PostgreSQLStorage: StorageEngine {
    package let namespace: any NamespaceStore
    package let accounts: any AccountStore & SessionStore
    package let securePayloads: any SecurePayloadStore
    package let providerTokens: any ProviderTokenStore
    package let keyValues: any KeyValueSpaces
    package let auditTrail: any AuditTrail
    package let runs: any AutomationStore
    package let approvals: any ApprovalStore
    let database: PostgreSQLDatabase

    /// Opens a database and creates its tables, or migrates those of an older version.
    ///
    /// Throws `storage.newer_schema` (500), `storage.sealed` (409) and `storage.unavailable` (503).
    package static func open(
        _ address: PostgreSQLAddress, seal: SecretSeal, _ limits: PostgreSQLLimits = PostgreSQLLimits()
    ) async throws(PushError) -> PostgreSQLStorage {
        let database = try await PostgreSQLDatabase(opening: address, seal: seal, limits)
        let namespace = PostgreSQLNamespaceStore(database: database)
        // Cleanup may fail; it is retried at the next start.
        try? await namespace.finishRemovals()
        return PostgreSQLStorage(database, namespace)
    }

    private init(_ database: PostgreSQLDatabase, _ namespace: PostgreSQLNamespaceStore) {
        (self.database, self.namespace) = (database, namespace)
        accounts = PostgreSQLAccountStore(database: database)
        securePayloads = PostgreSQLSecurePayloadStore(database: database)
        providerTokens = PostgreSQLProviderTokenStore(database: database)
        keyValues = PostgreSQLKeyValueSpaces(database: database)
        auditTrail = PostgreSQLAuditTrail(database: database)
        runs = PostgreSQLRunStore(database: database)
        approvals = PostgreSQLApprovalStore(database: database)
    }

    // MARK: - Backup

    package func backup(to path: String) throws(PushError) { throw StorageError.elsewhere("backed up", "pg_dump or pg_basebackup") }

    package func restore(
        from path: String, _ secrets: LostSecrets, whenChecked: @Sendable () async -> Void
    ) throws(PushError) -> RenewedSecrets {
        throw StorageError.elsewhere("restored", "pg_restore while no server runs")
    }

    // MARK: - Health

    package func checkWriting() async throws(PushError) {
        try await database.write { connection in
            connection.later("INSERT INTO leaving_hub VALUES (-1) ON CONFLICT DO NOTHING")
            try connection.run("DELETE FROM leaving_hub WHERE number = -1")
        }
    }

    /// Nil: the server checks its own pages, and reports a damaged one to the caller that meets it.
    package var damage: PushError? { nil }

    package func checkPages() {}

    package func close() async { await database.close() }
}

extension StorageError {
    /// - Parameter means: the programs that do it.
    static func elsewhere(_ action: String, _ means: String) -> PushError {
        PushError(
            "storage.memory", "a PostgreSQL database is not \(action) by pushhost", hint: "use \(means)", status: 400)
    }
}
