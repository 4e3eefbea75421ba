import GRDB
import PushModel

extension SQLiteHubStore: JobStore {
    func putJob(_ job: NotificationHubJob) async throws(PushError) {
        let secrets = try database.seal.seal(job.storedJSON, for: .job(job.id, hub: hub))
        try await database.write { [hub] database in
            try database.run(
                """
                INSERT INTO job (hub, id, kind, status, is_final, progress, created_at, updated_at, content, secrets)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?)
                ON CONFLICT (hub, id) DO UPDATE SET kind = excluded.kind, status = excluded.status, is_final = excluded.is_final,
                    progress = excluded.progress, created_at = excluded.created_at, updated_at = excluded.updated_at,
                    content = excluded.content, secrets = excluded.secrets
                """, hub, job.id, job.kind.rawValue, job.status.rawValue, job.status.isFinal, Int64((job.progress * 100).rounded()),
                job.createdAt.milliseconds, job.updatedAt.milliseconds, secrets)
        }
    }

    func job(_ id: String) async throws(PushError) -> NotificationHubJob? {
        try await database.read { [hub, seal = database.seal] database in
            try database.first("SELECT \(Self.jobColumns) FROM job WHERE hub = ? AND id = ?", hub, id) { try Self.job($0, seal) }
        }
    }

    func jobs(limit: Int) async throws(PushError) -> [NotificationHubJob] {
        try await database.read { [hub, seal = database.seal] database in
            try database.all(
                "SELECT \(Self.jobColumns) FROM job WHERE hub = ? ORDER BY created_at DESC, id DESC LIMIT ?", hub, limit
            ) { try Self.job($0, seal) }
        }
    }

    func unfinishedJobs() async throws(PushError) -> [NotificationHubJob] {
        try await database.read { [hub, seal = database.seal] database in
            try database.all("SELECT \(Self.jobColumns) FROM job WHERE hub = ? AND is_final = 0 ORDER BY created_at, id", hub) {
                try Self.job($0, seal)
            }
        }
    }

    func removeJobs(endedBefore moment: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { [hub] database in
            let before = database.totalChangesCount
            try database.run(
                """
                DELETE FROM job WHERE (hub, id) IN
                    (SELECT hub, id FROM job WHERE hub = ? AND is_final = 1 AND updated_at < ? ORDER BY updated_at, id LIMIT ?)
                """, hub, moment.milliseconds, limit)
            return database.totalChangesCount - before
        }
    }

    private static let jobColumns = "id, kind, status, progress, created_at, updated_at, secrets, hub"

    private static func job(_ row: SQLRow, _ seal: SecretSeal) throws -> NotificationHubJob {
        try reading("the job \(row.text(0)) of hub \(row.integer(7))") {
            try NotificationHubJob(
                id: row.text(0), kind: row.text(1), status: row.text(2), progress: row.integer(3), createdAt: row.time(4),
                updatedAt: row.time(5), stored: seal.json(row.bytes(6), of: .job(row.text(0), hub: row.integer(7))))
        }
    }
}
