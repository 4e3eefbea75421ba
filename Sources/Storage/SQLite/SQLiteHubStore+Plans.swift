import GRDB
import PushModel

extension SQLiteHubStore: PlanStore {
    func addPlan(_ plan: StoredPlan, parts: [[UInt8]]) async throws(PushError) -> Int64 {
        let content = plan.storedJSON.text()
        return try await database.write(size: parts.reduce(content.utf8.count) { $0 + $1.count }) { [hub] database in
            let number = try Self.lastPlan(of: hub, in: database) + 1
            try database.run(
                "INSERT INTO plan_sequence (hub, last) VALUES (?, ?) ON CONFLICT (hub) DO UPDATE SET last = excluded.last", hub, number)
            let key = NotificationKey(hub: hub, upTo: number).stored
            try database.run(
                "INSERT INTO plan (key, hub, subject, made_at, content) VALUES (?, ?, ?, ?, ?)", key, hub, plan.subject,
                plan.report.plannedAt.milliseconds, content)
            for (part, bytes) in parts.enumerated() {
                try database.run("INSERT INTO plan_part (plan, part, content) VALUES (?, ?, ?)", key, part, bytes)
            }
            return number
        }
    }

    func lastPlan() async throws(PushError) -> Int64 {
        try await database.read { [hub] database in try Self.lastPlan(of: hub, in: database) }
    }

    private static func lastPlan(of hub: Int64, in database: Database) throws -> Int64 {
        try database.first("SELECT last FROM plan_sequence WHERE hub = ?", hub) { $0.integer(0) } ?? 0
    }

    func plan(_ number: Int64) async throws(PushError) -> StoredPlan? {
        try await database.read { [hub] database in
            try database.first(
                "SELECT \(Self.planColumns) FROM plan WHERE key = ?", NotificationKey(hub: hub, upTo: number).stored, read: Self.plan)
        }
    }

    func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan] {
        try await database.read { [hub] database in
            try database.all(
                "SELECT \(Self.planColumns) FROM plan WHERE key > ? AND key < ? ORDER BY key DESC LIMIT ?",
                NotificationKey(hub: hub, upTo: 0).stored, NotificationKey(hub: hub, upTo: number ?? .max).stored, limit, read: Self.plan)
        }
    }

    func latestPlan(of subject: String) async throws(PushError) -> StoredPlan? {
        try await database.read { [hub] database in
            try database.first(
                "SELECT \(Self.planColumns) FROM plan WHERE hub = ? AND subject = ? ORDER BY key DESC LIMIT 1", hub, subject,
                read: Self.plan)
        }
    }

    func planPart(_ number: Int64, part: Int) async throws(PushError) -> [UInt8]? {
        try await database.read { [hub] database in
            try database.first(
                "SELECT content FROM plan_part WHERE plan = ? AND part = ?", NotificationKey(hub: hub, upTo: number).stored, part
            ) { $0.bytes(0) }
        }
    }

    func notifications(ofPlan number: Int64, limit: Int) async throws(PushError) -> [String] {
        try await database.read { [hub] database in
            try database.all(
                "SELECT id FROM notification WHERE plan = ? ORDER BY key LIMIT ?", NotificationKey(hub: hub, upTo: number).stored, limit
            ) { $0.text(0) }
        }
    }

    func removePlans(madeBefore moment: Timestamp, beyond newest: Int, limit: Int) async throws(PushError) -> Int {
        try await database.write { [hub] database in
            // The newest plan beyond the limit.
            let last = try database.first(
                "SELECT key FROM plan WHERE hub = ? ORDER BY key DESC LIMIT 1 OFFSET ?", hub, max(0, newest)
            ) { $0.integer(0) }
            let keys = try database.all(
                """
                SELECT key FROM plan WHERE hub = ? AND (made_at < ? OR key <= ?) AND NOT EXISTS
                    (SELECT 1 FROM notification WHERE notification.hub = plan.hub AND is_final = 0 AND notification.plan = plan.key)
                ORDER BY key LIMIT ?
                """, hub, moment.milliseconds, last ?? -1, limit
            ) { $0.integer(0) }
            for key in keys {
                try database.run("DELETE FROM plan_part WHERE plan = ?", key)
                try database.run("DELETE FROM plan WHERE key = ?", key)
            }
            return keys.count
        }
    }

    private static let planColumns = "key, subject, content, hub"

    private static func plan(_ row: SQLRow) throws -> StoredPlan {
        let number = NotificationKey(stored: row.integer(0)).sequence
        return try reading("the plan \(number) of hub \(row.integer(3))") {
            try StoredPlan(number: number, subject: row.text(1), stored: row.json(2))
        }
    }
}
