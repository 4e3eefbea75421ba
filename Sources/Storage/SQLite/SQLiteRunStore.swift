import GRDB
import PushModel

/// Runs, schedules and events in a database.
struct SQLiteRunStore: AutomationStore {
    let database: SQLiteAccess

    // MARK: - Runs

    func add(_ runs: [RunRecord], _ cause: RunCause) async throws(PushError) -> [AddedRun] {
        // Encode before the write transaction begins.
        let rows = runs.map { run in (run: run, content: RunRow(run).content.text(), report: RunRow(run).report?.text()) }
        return try await database.write(size: rows.reduce(0) { $0 + $1.content.utf8.count }) { database in
            var added: [AddedRun] = []
            for (run, content, report) in rows {
                if let known = try run.origin.key.flatMap({ try Self.run(of: run.flow, key: $0, in: database) }) {
                    added.append(AddedRun(run: known, isRepeated: true))
                    continue
                }
                try database.run(
                    """
                    INSERT INTO run (flow, key, state, is_final, trigger, queued_at, ended_at, content, report)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """, run.flow, run.origin.key, run.state.rawValue, run.state.isFinal, run.trigger.kind.rawValue,
                    run.lifecycle.queuedAt.milliseconds, run.lifecycle.endedAt?.milliseconds, content, report)
                var stored = run
                stored.number = database.lastInsertedRowID
                added.append(AddedRun(run: stored, isRepeated: false))
            }
            for (name, time) in cause.handledUntil.sorted(by: { $0.key < $1.key }) {
                try database.run("UPDATE schedule SET heard = ?2 WHERE name = ?1 AND coalesce(heard, 0) < ?2", name, time.milliseconds)
            }
            if let last = cause.events { try database.run("DELETE FROM hub_event WHERE number <= ?", last) }
            return added
        }
    }

    private static func run(of flow: String, key: String, in database: Database) throws -> RunRecord? {
        try database.first("SELECT \(RunRow.columns) FROM run WHERE flow = ? AND key = ?", flow, key) { try RunRow($0).run }
    }

    func update(_ run: RunRecord) async throws(PushError) {
        let (content, report) = (RunRow(run).content.text(), RunRow(run).report?.text())
        try await database.write(size: content.utf8.count + (report?.utf8.count ?? 0)) { database in
            try database.run(
                "UPDATE run SET state = ?, is_final = ?, ended_at = ?, content = ?, report = ? WHERE number = ?", run.state.rawValue,
                run.state.isFinal, run.lifecycle.endedAt?.milliseconds, content, report, run.number)
        }
    }

    func run(_ number: Int64) async throws(PushError) -> RunRecord? {
        try await database.read { database in
            try database.first("SELECT \(RunRow.columns) FROM run WHERE number = ?", number) { try RunRow($0).run }
        }
    }

    func runs(_ filter: RunFilter, before number: Int64?, limit: Int) async throws(PushError) -> [RunRecord] {
        try await database.read { database in
            try database.all(
                """
                SELECT number, flow, key, state, queued_at, ended_at, content, NULL FROM run
                WHERE number < ?1 AND \(filter.flow == nil ? "?2 IS NULL" : "flow = ?2") AND (?3 IS NULL OR state = ?3)
                    AND (?4 IS NULL OR trigger = ?4)
                ORDER BY number DESC LIMIT ?5
                """, number ?? .max, filter.flow, filter.state?.rawValue, filter.trigger?.rawValue, limit
            ) { try RunRow($0).run }
        }
    }

    func unfinishedRuns() async throws(PushError) -> [RunRecord] {
        try await database.read { database in
            try database.all("SELECT \(RunRow.columns) FROM run WHERE is_final = 0 ORDER BY number") { try RunRow($0).run }
        }
    }

    func removeRuns(endedBefore time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { database in
            let before = database.totalChangesCount
            try database.run(
                """
                DELETE FROM run WHERE number IN
                    (SELECT number FROM run WHERE is_final = 1 AND ended_at < ? ORDER BY ended_at LIMIT ?)
                """, time.milliseconds, limit)
            return database.totalChangesCount - before
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
        try await database.write { database in
            try database.run(
                "INSERT OR REPLACE INTO schedule (name, is_configured, is_paused, heard, content) VALUES (?, ?, ?, ?, ?)",
                schedule.rule.name, schedule.isConfigured, schedule.isPaused, schedule.handledUntil.milliseconds,
                ScheduleRow(schedule).content.text())
        }
    }

    func removeSchedule(_ name: String) async throws(PushError) {
        try await database.write { try $0.run("DELETE FROM schedule WHERE name = ?", name) }
    }

    // MARK: - Events

    func events(limit: Int) async throws(PushError) -> [HubEvent] {
        try await database.read { database in
            try database.all("SELECT \(EventRow.columns) FROM hub_event ORDER BY number LIMIT ?", limit) { try EventRow($0).event }
        }
    }

    /// Stores events in the transaction of the change that they report.
    static func save(_ events: [HubEvent], in database: Database) throws {
        for event in events {
            try database.run(
                "INSERT INTO hub_event (hub, kind, time, content) VALUES (?, ?, ?, ?)", event.hub, event.kind.rawValue,
                event.time.milliseconds, EventRow(event).content.text())
        }
    }

    // MARK: - Restoring

    /// Prepares a backup for restoring: none of its runs, schedules and events starts by itself, because each may have been handled since.
    static func prepareForRestore(in database: Database) throws {
        try database.run("DELETE FROM hub_event")
        try database.run("UPDATE schedule SET heard = NULL")
        try database.run(
            "UPDATE run SET state = ?, is_final = 1, ended_at = coalesce(ended_at, queued_at) WHERE is_final = 0",
            RunRecord.State.interrupted.rawValue)
    }
}
