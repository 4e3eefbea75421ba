import PushModel

/// The bulk jobs of a hub, by id.
struct MemoryJobs {
    private var jobs: [String: NotificationHubJob] = [:]

    subscript(id: String) -> NotificationHubJob? { jobs[id] }

    var oldestFirst: [NotificationHubJob] { jobs.values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) } }

    mutating func put(_ job: NotificationHubJob) { jobs[job.id] = job }

    mutating func remove(endedBefore time: Timestamp, limit: Int) -> Int {
        let ended = jobs.values.filter { $0.status.isFinal && $0.progress.updatedAt < time }
        let removed = ended.sorted { ($0.progress.updatedAt, $0.id) < ($1.progress.updatedAt, $1.id) }.prefix(limit)
        for job in removed { jobs[job.id] = nil }
        return removed.count
    }
}
