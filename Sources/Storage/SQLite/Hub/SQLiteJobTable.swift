import GRDB
import PushModel

/// The bulk jobs of a hub in a database. Their properties are sealed.
struct SQLiteJobTable {
    let hub: Int64
    let seal: SecretSeal
    let database: Database

    /// - Parameter secrets: the sealed properties of the job.
    func put(_ job: NotificationHubJob, _ secrets: [UInt8]) throws {
        try database.run(
            """
            INSERT INTO job (hub, id, kind, status, is_final, progress, created_at, updated_at, content, secrets)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?)
            ON CONFLICT (hub, id) DO UPDATE SET kind = excluded.kind, status = excluded.status, is_final = excluded.is_final,
                progress = excluded.progress, created_at = excluded.created_at, updated_at = excluded.updated_at,
                content = excluded.content, secrets = excluded.secrets
            """, hub, job.id, job.kind.rawValue, job.status.rawValue, job.status.isFinal, Int64((job.progress.percent * 100).rounded()),
            job.createdAt.milliseconds, job.progress.updatedAt.milliseconds, secrets)
    }

    func job(_ id: String) throws -> NotificationHubJob? {
        try database.first("SELECT \(JobRow.columns) FROM job WHERE hub = ? AND id = ?", hub, id, read: job)
    }

    func jobs(limit: Int) throws -> [NotificationHubJob] {
        try database.all(
            "SELECT \(JobRow.columns) FROM job WHERE hub = ? ORDER BY created_at DESC, id DESC LIMIT ?", hub, limit, read: job)
    }

    func unfinished() throws -> [NotificationHubJob] {
        try database.all("SELECT \(JobRow.columns) FROM job WHERE hub = ? AND is_final = 0 ORDER BY created_at, id", hub, read: job)
    }

    func remove(endedBefore time: Timestamp, limit: Int) throws -> Int {
        let before = database.totalChangesCount
        try database.run(
            """
            DELETE FROM job WHERE (hub, id) IN
                (SELECT hub, id FROM job WHERE hub = ? AND is_final = 1 AND updated_at < ? ORDER BY updated_at, id LIMIT ?)
            """, hub, time.milliseconds, limit)
        return database.totalChangesCount - before
    }

    private func job(_ row: SQLiteRow) throws -> NotificationHubJob { try JobRow(row, seal).job }
}
