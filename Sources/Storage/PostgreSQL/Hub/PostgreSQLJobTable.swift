import PushModel

/// The bulk jobs of a hub in a database. Their properties are sealed.
struct PostgreSQLJobTable {
    let hub: Int64
    let seal: SecretSeal
    let database: PostgreSQLConnection

    /// - Parameter secrets: the sealed properties of the job.
    func put(_ job: NotificationHubJob, _ secrets: [UInt8]) throws {
        try database.run(
            """
            INSERT INTO job (hub, id, kind, status, is_final, progress, created_at, updated_at, secrets)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            ON CONFLICT (hub, id) DO UPDATE SET kind = excluded.kind, status = excluded.status, is_final = excluded.is_final,
                progress = excluded.progress, created_at = excluded.created_at, updated_at = excluded.updated_at,
                secrets = excluded.secrets
            """, hub, job.id, job.kind.rawValue, job.status.rawValue, job.status.isFinal, Int64((job.progress.percent * 100).rounded()),
            job.createdAt.milliseconds, job.progress.updatedAt.milliseconds, secrets)
    }

    func job(_ id: String) throws -> NotificationHubJob? {
        try database.first("SELECT \(JobRow.columns) FROM job WHERE hub = $1 AND id = $2", hub, id, read: job)
    }

    func jobs(limit: Int) throws -> [NotificationHubJob] {
        try database.all(
            "SELECT \(JobRow.columns) FROM job WHERE hub = $1 ORDER BY created_at DESC, id DESC LIMIT $2", hub, limit, read: job)
    }

    func unfinished() throws -> [NotificationHubJob] {
        try database.all("SELECT \(JobRow.columns) FROM job WHERE hub = $1 AND NOT is_final ORDER BY created_at, id", hub, read: job)
    }

    func remove(endedBefore time: Timestamp, limit: Int) throws -> Int {
        try database.run(
            """
            DELETE FROM job WHERE hub = $1 AND id IN
                (SELECT id FROM job WHERE hub = $1 AND is_final AND updated_at < $2 ORDER BY updated_at, id LIMIT $3)
            """, hub, time.milliseconds, limit)
    }

    private func job(_ row: PostgreSQLRow) throws -> NotificationHubJob { try JobRow(row, seal).job }
}
