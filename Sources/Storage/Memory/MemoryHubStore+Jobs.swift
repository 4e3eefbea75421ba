import PushModel

extension MemoryHubStore: JobStore {
    package func putJob(_ job: NotificationHubJob) { jobs[job.id] = job }

    package func job(_ id: String) -> NotificationHubJob? { jobs[id] }

    package func jobs(limit: Int) -> [NotificationHubJob] { Array(oldestFirst.reversed().prefix(limit)) }

    package func unfinishedJobs() -> [NotificationHubJob] { oldestFirst.filter { !$0.status.isFinal } }

    package func removeJobs(endedBefore moment: Timestamp, limit: Int) -> Int {
        let ended = jobs.values.filter { $0.status.isFinal && $0.updatedAt < moment }
        let removed = ended.sorted { ($0.updatedAt, $0.id) < ($1.updatedAt, $1.id) }.prefix(limit)
        for job in removed { jobs[job.id] = nil }
        return removed.count
    }

    private var oldestFirst: [NotificationHubJob] { jobs.values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) } }
}
