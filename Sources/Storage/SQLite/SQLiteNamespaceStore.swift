import GRDB
import PushModel

/// The hubs of a server in a database.
struct SQLiteNamespaceStore: NamespaceStore {
    /// Number of templates removed per transaction. Low, because templates may be large.
    private static let templateBatch = 100

    let database: SQLiteAccess

    func load() async throws(PushError) -> StoredNamespace {
        try await database.read { [seal = database.seal] database in
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
        try await database.write { try $0.run("UPDATE namespace SET rules = ?, secrets = ?", rows.json.text(), secrets) }
    }

    func putHub(_ hub: HubRecord) async throws(PushError) {
        let secrets = try database.seal.seal(HubRow(hub).secrets, for: .hub(hub.number))
        try await database.write { database in
            try database.run(
                """
                INSERT INTO hub (number, name, description, created_at, updated_at, secrets) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (number) DO UPDATE SET name = excluded.name, description = excluded.description,
                    created_at = excluded.created_at, updated_at = excluded.updated_at, secrets = excluded.secrets
                """, hub.number, hub.name, HubRow(hub).description.text(), hub.createdAt.milliseconds, hub.updatedAt.milliseconds,
                secrets)
            try database.run("UPDATE namespace SET last_hub = max(last_hub, ?)", hub.number)
        }
    }

    func removeHub(_ number: Int64) async throws(PushError) {
        try await database.write { database in
            try database.run("INSERT OR IGNORE INTO leaving_hub (number) VALUES (?)", number)
            try database.run("DELETE FROM hub WHERE number = ?", number)
        }
        // The hub is deleted from here on. Rows that cannot be deleted now are deleted at the next start.
        try? await removeRows(ofHub: number)
        try? await removeUnusedTemplates()
    }

    /// Resumes removals of hubs that a server stop interrupted.
    func finishRemovals() async throws(PushError) {
        let leaving = try await database.read { try $0.all("SELECT number FROM leaving_hub") { $0.integer(0) } }
        for number in leaving { try await removeRows(ofHub: number) }
    }

    private func removeRows(ofHub number: Int64) async throws(PushError) {
        for (table, key, condition, step) in SQLiteSchema.tablesOfHub {
            var removed = 0
            repeat {
                removed = try await database.write { database in
                    let before = database.totalChangesCount
                    try database.run(
                        "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT ?2)", number, step)
                    return database.totalChangesCount - before
                }
            } while removed == step
        }
        try await database.write { try $0.run("DELETE FROM leaving_hub WHERE number = ?", number) }
    }

    /// Removes templates left unused by the removal of a hub. Otherwise, a template is removed with its last registration.
    func removeUnusedTemplates() async throws(PushError) {
        var last: Int64 = 0
        while true {
            let unused = try await database.read { [last] database in
                try database.all(
                    """
                    SELECT key FROM template
                    WHERE key > ? AND NOT EXISTS (SELECT 1 FROM registration WHERE registration.template = template.key)
                    ORDER BY key LIMIT ?
                    """, last, Self.templateBatch
                ) { $0.integer(0) }
            }
            guard let end = unused.last else { return }
            last = end
            try await database.write { [templates = database.templates] database in
                for key in unused { try templates.removeUnused(key, in: database) }
            }
        }
    }

    func store(ofHub number: Int64) -> any HubStore { SQLiteHubStore(database: database, hub: number) }
}
