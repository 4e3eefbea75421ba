import PushModel

/// The plans of a hub in a database, each with its devices in parts.
struct PostgreSQLPlanTable {
    let hub: Int64
    let database: PostgreSQLConnection

    private static let kind = "plan"
    private static let columns = "number, subject, content, hub"

    /// - Parameter content: the plan as JSON.
    /// - Returns: the number of the plan.
    func add(_ plan: StoredPlan, _ content: String, parts: [[UInt8]]) throws -> Int64 {
        let number = try database.next(Self.kind, hub: hub).lowerBound
        database.later(
            "INSERT INTO plan (hub, number, subject, made_at, content) VALUES ($1, $2, $3, $4, $5)", hub, number, plan.subject,
            plan.report.plannedAt.milliseconds, content)
        for (part, bytes) in parts.enumerated() {
            database.later("INSERT INTO plan_part (hub, plan, part, content) VALUES ($1, $2, $3, $4)", hub, number, part, bytes)
        }
        return number
    }

    /// The number of the last plan ever stored; 0 if there never was one.
    func last() throws -> Int64 { try database.last(Self.kind, hub: hub) }

    func plan(_ number: Int64) throws -> StoredPlan? {
        try database.first("SELECT \(Self.columns) FROM plan WHERE hub = $1 AND number = $2", hub, number, read: Self.plan)
    }

    func plans(before number: Int64?, limit: Int) throws -> [StoredPlan] {
        try database.all(
            "SELECT \(Self.columns) FROM plan WHERE hub = $1 AND number < $2 ORDER BY number DESC LIMIT $3", hub, number ?? .max, limit,
            read: Self.plan)
    }

    func latest(of subject: String) throws -> StoredPlan? {
        try database.first(
            """
            SELECT \(Self.columns) FROM plan WHERE hub = $1 AND md5(subject) = md5($2) AND subject = $2 ORDER BY number DESC LIMIT 1
            """, hub, subject, read: Self.plan)
    }

    func part(_ part: Int, of number: Int64) throws -> [UInt8]? {
        try database.first("SELECT content FROM plan_part WHERE hub = $1 AND plan = $2 AND part = $3", hub, number, part) { $0.bytes(0) }
    }

    /// The ids of notifications that are bound to a plan.
    func notifications(of number: Int64, limit: Int) throws -> [String] {
        try database.all("SELECT id FROM notification WHERE hub = $1 AND plan = $2 ORDER BY sequence LIMIT $3", hub, number, limit) {
            $0.text(0)
        }
    }

    func remove(madeBefore time: Timestamp, beyond newest: Int, limit: Int) throws -> Int {
        // The newest plan beyond the limit.
        let last = try database.first(
            "SELECT number FROM plan WHERE hub = $1 ORDER BY number DESC LIMIT 1 OFFSET $2", hub, max(0, newest)
        ) { $0.integer(0) }
        let numbers = try database.all(
            """
            SELECT number FROM plan WHERE hub = $1 AND (made_at < $2 OR number <= $3) AND NOT EXISTS
                (SELECT 1 FROM notification WHERE notification.hub = $1 AND NOT is_final AND notification.plan = plan.number)
            ORDER BY number LIMIT $4
            """, hub, time.milliseconds, last ?? -1, limit
        ) { $0.integer(0) }
        database.later("DELETE FROM plan_part WHERE hub = $1 AND plan = ANY($2)", hub, PostgreSQLArray(numbers))
        try database.run("DELETE FROM plan WHERE hub = $1 AND number = ANY($2)", hub, PostgreSQLArray(numbers))
        return numbers.count
    }

    private static func plan(_ row: PostgreSQLRow) throws -> StoredPlan { try PlanRow(row).plan }
}
