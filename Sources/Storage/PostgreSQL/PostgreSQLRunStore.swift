import Crypto
import PushModel

/// Runs, schedules and events in a database.
struct PostgreSQLRunStore: AutomationStore {
    let database: PostgreSQLDatabase

    // MARK: - Runs

    func add(_ runs: [RunRecord], _ cause: RunCause) async throws(PushError) -> [AddedRun] {
        // Encode before the transaction begins.
        let rows = runs.map { run in (run: run, content: RunRow(run).content.text(), report: RunRow(run).report?.text()) }
        return try await database.write(size: rows.reduce(0) { $0 + $1.content.utf8.count }) { database in
            var added: [AddedRun] = []
            for (run, content, report) in rows {
                let digest = run.origin.key.map { Self.digest(of: run.flow, key: $0) }
                let known = try digest.flatMap { digest in
                    try database.first("SELECT \(RunRow.columns) FROM run WHERE digest = $1", digest) { try RunRow($0).run }
                }
                if let known {
                    added.append(AddedRun(run: known, isRepeated: true))
                    continue
                }
                var stored = run
                stored.number = try database.next("run").lowerBound
                try database.run(
                    """
                    INSERT INTO run (number, flow, key, digest, state, is_final, trigger, queued_at, ended_at, content, report)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
                    """, stored.number, run.flow, run.origin.key, digest, run.state.rawValue, run.state.isFinal, run.trigger.kind.rawValue,
                    run.lifecycle.queuedAt.milliseconds, run.lifecycle.endedAt?.milliseconds, content, report)
                added.append(AddedRun(run: stored, isRepeated: false))
            }
            for (name, time) in cause.handledUntil.sorted(by: { $0.key < $1.key }) {
                database.later(
                    "UPDATE schedule SET heard = $2 WHERE name = $1 AND coalesce(heard, 0) < $2", name, time.milliseconds)
            }
            if let last = cause.events { database.later("DELETE FROM hub_event WHERE number <= $1", last) }
            return added
        }
    }

    /// Identifies the run of a flow with a key. Texts may be longer than an index entry may be.
    private static func digest(of flow: String, key: String) -> [UInt8] {
        Array(SHA256.hash(data: JSON.array([.string(flow), .string(key)]).serialized()))
    }

    func update(_ run: RunRecord) async throws(PushError) {
        let (content, report) = (RunRow(run).content.text(), RunRow(run).report?.text())
        try await database.write(size: content.utf8.count + (report?.utf8.count ?? 0)) { database in
            try database.run(
                "UPDATE run SET state = $1, is_final = $2, ended_at = $3, content = $4, report = $5 WHERE number = $6",
                run.state.rawValue, run.state.isFinal, run.lifecycle.endedAt?.milliseconds, content, report, run.number)
        }
    }

    func run(_ number: Int64) async throws(PushError) -> RunRecord? {
        try await database.read { database in
            try database.first("SELECT \(RunRow.columns) FROM run WHERE number = $1", number) { try RunRow($0).run }
        }
    }

    func runs(_ filter: RunFilter, before number: Int64?, limit: Int) async throws(PushError) -> [RunRecord] {
        try await database.read { database in
            try database.all(
                """
                SELECT number, flow, key, state, queued_at, ended_at, content, NULL FROM run
                WHERE number < $1 AND \(filter.flow == nil ? "$2 IS NULL" : "md5(flow) = md5($2) AND flow = $2")
                    AND ($3 IS NULL OR state = $3) AND ($4 IS NULL OR trigger = $4)
                ORDER BY number DESC LIMIT $5
                """, number ?? .max, filter.flow, filter.state?.rawValue, filter.trigger?.rawValue, limit
            ) { try RunRow($0).run }
        }
    }

    func unfinishedRuns() async throws(PushError) -> [RunRecord] {
        try await database.read { database in
            try database.all("SELECT \(RunRow.columns) FROM run WHERE NOT is_final ORDER BY number") { try RunRow($0).run }
        }
    }

    func removeRuns(endedBefore time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { database in
            try database.run(
                """
                DELETE FROM run WHERE number IN
                    (SELECT number FROM run WHERE is_final AND ended_at < $1 ORDER BY ended_at LIMIT $2)
                """, time.milliseconds, limit)
        }
    }

    // MARK: - Schedules

    func schedules(startingFrom now: Timestamp) async throws(PushError) -> [StoredSchedule] {
        try await database.read { database in
            try database.all("SELECT \(ScheduleRow.columns) FROM schedule ORDER BY name") { row in
                try ScheduleRow(row, startingFrom: now).schedule
            }
        }
    }

    func save(_ schedule: StoredSchedule) async throws(PushError) {
        let content = ScheduleRow(schedule).content.text()
        try await database.write { database in
            try database.run(
                """
                INSERT INTO schedule (name, is_configured, is_paused, heard, content) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (name) DO UPDATE SET is_configured = excluded.is_configured, is_paused = excluded.is_paused,
                    heard = excluded.heard, content = excluded.content
                """, schedule.rule.name, schedule.isConfigured, schedule.isPaused, schedule.handledUntil.milliseconds, content)
        }
    }

    func removeSchedule(_ name: String) async throws(PushError) {
        try await database.write { try $0.run("DELETE FROM schedule WHERE name = $1", name) }
    }

    // MARK: - Events

    func events(limit: Int) async throws(PushError) -> [HubEvent] {
        try await database.read { database in
            try database.all("SELECT \(EventRow.columns) FROM hub_event ORDER BY number LIMIT $1", limit) { try EventRow($0).event }
        }
    }

    /// Stores events in the transaction of the change that they report.
    static func save(_ events: [HubEvent], in database: PostgreSQLConnection) throws {
        if events.isEmpty { return }
        for (number, event) in zip(try database.next("event", count: events.count), events) {
            database.later(
                "INSERT INTO hub_event (number, hub, kind, time, content) VALUES ($1, $2, $3, $4, $5)", number, event.hub,
                event.kind.rawValue, event.time.milliseconds, EventRow(event).content.text())
        }
    }
}
