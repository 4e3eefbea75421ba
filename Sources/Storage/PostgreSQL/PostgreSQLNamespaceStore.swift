import PushModel

/// The hubs of a server in a database.
struct PostgreSQLNamespaceStore: NamespaceStore {
    /// Number of rows deleted per transaction, so that other changes need not wait long.
    private static let rowsPerTransaction = 1000

    let database: PostgreSQLDatabase

    func load() async throws(PushError) -> StoredNamespace {
        try await database.snapshot { [seal = database.seal] database in
            let rules = try database.first("SELECT rules, last_hub, secrets FROM namespace") { row in
                try reading("the row of the namespace") {
                    let secrets = try seal.json(row.optional(2, row.bytes), of: .namespace)
                    return (try AccessRuleRows(row.json(0), keys: secrets["rules"]).rules, row.integer(1))
                }
            }
            let hubs = try database.all("SELECT \(HubRow.columns) FROM hub ORDER BY number") { try HubRow($0, seal).hub }
            return StoredNamespace(rules: rules?.0 ?? [], hubs: hubs, lastNumber: rules?.1 ?? 0)
        }
    }

    func putRules(_ rules: [AuthorizationRule]) async throws(PushError) {
        let rows = AccessRuleRows(rules)
        let secrets = try database.seal.seal(["rules": rows.keys], for: .namespace)
        try await database.write { try $0.run("UPDATE namespace SET rules = $1, secrets = $2", rows.json.text(), secrets) }
    }

    func putHub(_ hub: HubRecord) async throws(PushError) {
        let secrets = try database.seal.seal(HubRow(hub).secrets, for: .hub(hub.number))
        try await database.write { database in
            database.later(
                """
                INSERT INTO hub (number, name, folded_name, description, created_at, updated_at, secrets)
                VALUES ($1, $2, lower($2 COLLATE "C"), $3, $4, $5, $6)
                ON CONFLICT (number) DO UPDATE SET name = excluded.name, folded_name = excluded.folded_name,
                    description = excluded.description, created_at = excluded.created_at, updated_at = excluded.updated_at,
                    secrets = excluded.secrets
                """, hub.number, hub.name, HubRow(hub).description.text(), hub.createdAt.milliseconds, hub.updatedAt.milliseconds,
                secrets)
            try database.run("UPDATE namespace SET last_hub = greatest(last_hub, $1)", hub.number)
        }
    }

    func removeHub(_ number: Int64) async throws(PushError) {
        try await database.write { database in
            database.later("INSERT INTO leaving_hub (number) VALUES ($1) ON CONFLICT DO NOTHING", number)
            try database.run("DELETE FROM hub WHERE number = $1", number)
        }
        // The hub is deleted from here on. Rows that cannot be deleted now are deleted at the next start.
        try? await removeRows(ofHub: number)
    }

    /// Resumes removals of hubs that a server stop interrupted.
    func finishRemovals() async throws(PushError) {
        let leaving = try await database.read { try $0.all("SELECT number FROM leaving_hub") { $0.integer(0) } }
        for number in leaving { try await removeRows(ofHub: number) }
    }

    private func removeRows(ofHub number: Int64) async throws(PushError) {
        for (table, key) in PostgreSQLSchema.tablesOfHub {
            // Rows of outcomes and plans are large.
            let step = ["outcome_batch", "dead_batch", "plan_part"].contains(table) ? 8 : Self.rowsPerTransaction
            var removed = 0
            repeat {
                removed = try await database.write { database in
                    try database.run(
                        """
                        DELETE FROM \(table) WHERE hub = $1 AND (\(key)) IN (SELECT \(key) FROM \(table) WHERE hub = $1 LIMIT $2)
                        """, number, step)
                }
            } while removed == step
        }
        try await database.write { try $0.run("DELETE FROM leaving_hub WHERE number = $1", number) }
    }

    func store(ofHub number: Int64) -> any HubStore { PostgreSQLHubStore(database: database, hub: number) }
}
