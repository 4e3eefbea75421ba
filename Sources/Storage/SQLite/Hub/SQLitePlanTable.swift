import GRDB
import PushModel

/// The plans of a hub in a database, each with its devices in parts.
struct SQLitePlanTable {
    let hub: Int64
    let database: Database

    /// - Parameter content: the plan as JSON.
    /// - Returns: the number of the plan.
    func add(_ plan: StoredPlan, _ content: String, parts: [[UInt8]]) throws -> Int64 {
        let number = try last() + 1
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

    /// The number of the last plan ever stored; 0 if there never was one.
    func last() throws -> Int64 { try database.first("SELECT last FROM plan_sequence WHERE hub = ?", hub) { $0.integer(0) } ?? 0 }

    func plan(_ number: Int64) throws -> StoredPlan? {
        try database.first(
            "SELECT \(PlanRow.columns) FROM plan WHERE key = ?", NotificationKey(hub: hub, upTo: number).stored, read: Self.plan)
    }

    func plans(before number: Int64?, limit: Int) throws -> [StoredPlan] {
        try database.all(
            "SELECT \(PlanRow.columns) FROM plan WHERE key > ? AND key < ? ORDER BY key DESC LIMIT ?",
            NotificationKey(hub: hub, upTo: 0).stored, NotificationKey(hub: hub, upTo: number ?? .max).stored, limit, read: Self.plan)
    }

    func latest(of subject: String) throws -> StoredPlan? {
        try database.first(
            "SELECT \(PlanRow.columns) FROM plan WHERE hub = ? AND subject = ? ORDER BY key DESC LIMIT 1", hub, subject, read: Self.plan)
    }

    func part(_ part: Int, of number: Int64) throws -> [UInt8]? {
        try database.first(
            "SELECT content FROM plan_part WHERE plan = ? AND part = ?", NotificationKey(hub: hub, upTo: number).stored, part
        ) { $0.bytes(0) }
    }

    /// The ids of notifications that are bound to a plan.
    func notifications(of number: Int64, limit: Int) throws -> [String] {
        try database.all(
            "SELECT id FROM notification WHERE plan = ? ORDER BY key LIMIT ?", NotificationKey(hub: hub, upTo: number).stored, limit
        ) { $0.text(0) }
    }

    func remove(madeBefore time: Timestamp, beyond newest: Int, limit: Int) throws -> Int {
        // The newest plan beyond the limit.
        let last = try database.first(
            "SELECT key FROM plan WHERE hub = ? ORDER BY key DESC LIMIT 1 OFFSET ?", hub, max(0, newest)
        ) { $0.integer(0) }
        let keys = try database.all(
            """
            SELECT key FROM plan WHERE hub = ? AND (made_at < ? OR key <= ?) AND NOT EXISTS
                (SELECT 1 FROM notification WHERE notification.hub = plan.hub AND is_final = 0 AND notification.plan = plan.key)
            ORDER BY key LIMIT ?
            """, hub, time.milliseconds, last ?? -1, limit
        ) { $0.integer(0) }
        for key in keys {
            try database.run("DELETE FROM plan_part WHERE plan = ?", key)
            try database.run("DELETE FROM plan WHERE key = ?", key)
        }
        return keys.count
    }

    private static func plan(_ row: SQLiteRow) throws -> StoredPlan { try PlanRow(row).plan }
}
