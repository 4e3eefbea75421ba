import PushModel

/// The data of one hub in a database. Each table has a type of its own; this one reads and changes them in transactions.
struct PostgreSQLHubStore: HubStore {
    let database: PostgreSQLDatabase
    let hub: Int64

    // MARK: - Registrations

    func load<Reader: StoredHubReader>(into reader: Reader) async throws(PushError) -> Reader {
        try await database.snapshot { [hub] database in
            var reader = reader
            try PostgreSQLHubReader(hub: hub, database: database).read(into: &reader)
            return reader
        }
    }

    func registrations(at rows: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        try await database.snapshot { [hub] in try PostgreSQLRegistrationTable(hub: hub, database: $0).registrations(at: rows) }
    }

    func installations(at rows: [UInt32]) async throws(PushError) -> [InstallationRow] {
        try await database.read { [hub] in try PostgreSQLInstallationTable(hub: hub, database: $0).installations(at: rows) }
    }

    func tags(behind rowNumber: UInt32?, limit: Int) async throws(PushError) -> [TagsRow] {
        try await database.read { [hub] in try PostgreSQLRegistrationTable(hub: hub, database: $0).tags(after: rowNumber, limit: limit) }
    }

    func commit(_ change: RegistrationChange) async throws(PushError) {
        let row = PostgreSQLRegistrationChange(change, hub: hub)
        try await database.write { try row.commit(on: $0) }
    }

    func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) async throws(PushError) -> [DeletedRegistration] {
        try await database.read { [hub] in try PostgreSQLTombstoneTable(hub: hub, database: $0).deletedRegistrations(subject, limit: limit)
        }
    }

    func removeTombstones(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { [hub] in try PostgreSQLTombstoneTable(hub: hub, database: $0).forget(before: time, limit: limit) }
    }

    // MARK: - Pruned devices

    func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await database.read { [hub] in
            try PostgreSQLPrunedTable(hub: hub, database: $0).devices(filter, below: number, limit: limit)
        }
    }

    func forgetPruned(before time: Timestamp, limit: Int, keepsUnreported: Bool) async throws(PushError) -> Int {
        try await database.write { [hub] in
            try PostgreSQLPrunedTable(hub: hub, database: $0).forget(before: time, limit: limit, keepsUnreported: keepsUnreported)
        }
    }

    func unreportedPruned(limit: Int) async throws(PushError) -> [PrunedDevice] {
        let (found, offered) = try await database.snapshot { [hub] in
            try PostgreSQLPrunedTable(hub: hub, database: $0).unreported(limit: limit)
        }
        guard let last = found.last?.number, last > offered else { return found }
        try await database.write { [hub] in try PostgreSQLPrunedTable(hub: hub, database: $0).offer(upTo: last) }
        return found
    }

    func countUnreportedPruned() async throws(PushError) -> Int {
        try await database.snapshot { [hub] in try PostgreSQLPrunedTable(hub: hub, database: $0).countUnreported() }
    }

    func acknowledgePruned(upTo number: Int64) async throws(PushError) {
        try await database.write { [hub] in try PostgreSQLPrunedTable(hub: hub, database: $0).acknowledge(upTo: number) }
    }

    func dropUnreportedPruned(beyond most: Int) async throws(PushError) -> Int {
        try await database.write { [hub] in try PostgreSQLPrunedTable(hub: hub, database: $0).dropUnreported(beyond: most) }
    }

    // MARK: - Held removals

    func hold(_ removals: [HeldRemoval]) async throws(PushError) {
        try await database.write { [hub] in try PostgreSQLHeldRemovalTable(hub: hub, database: $0).insert(removals) }
    }

    func heldRemovals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) async throws(PushError) -> [HeldRemoval] {
        try await database.read { [hub] in
            try PostgreSQLHeldRemovalTable(hub: hub, database: $0).removals(filter, below: number, limit: limit)
        }
    }

    func dropHeldRemovals(_ removals: [HeldRemoval]) async throws(PushError) -> Set<Int64> {
        try await database.write { [hub] in try PostgreSQLHeldRemovalTable(hub: hub, database: $0).delete(removals) }
    }

    // MARK: - Notifications

    func accept(_ notification: StoredNotification) async throws(PushError) -> AcceptanceResult {
        try await database.accept(try PostgreSQLNotificationRow(notification, hub: hub))
    }

    func acceptance(under key: IdempotencyKey) async throws(PushError) -> AcceptanceResult? {
        try await database.read { [hub] in try PostgreSQLNotificationTable(hub: hub, database: $0).acceptance(under: key) }
    }

    func unfinished(after sequence: Int64, limit: Int) async throws(PushError) -> [StoredNotification] {
        try await database.read { [hub] in
            try PostgreSQLNotificationTable(hub: hub, database: $0).unfinished(after: sequence, limit: limit)
        }
    }

    func unfinished(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification] {
        try await database.read { [hub] in try PostgreSQLNotificationTable(hub: hub, database: $0).unfinished(sequences) }
    }

    func record(_ progress: NotificationProgress) async throws(PushError) {
        let row = PostgreSQLNotificationTable.ProgressRow(progress)
        let events = progress.events
        try await database.write(size: row.size) { [hub] database in
            try PostgreSQLNotificationTable(hub: hub, database: database).record(row)
            try PostgreSQLRunStore.save(events, in: database)
        }
    }

    func notification(_ sequence: Int64) async throws(PushError) -> StoredNotification? {
        try await database.read { [hub] in try PostgreSQLNotificationTable(hub: hub, database: $0).notification(sequence) }
    }

    func notifications(before sequence: Int64?, limit: Int) async throws(PushError) -> [StoredNotification] {
        try await database.read { [hub] in
            try PostgreSQLNotificationTable(hub: hub, database: $0).notifications(before: sequence, limit: limit)
        }
    }

    func removeEnded(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        let ended = try await database.read { [hub] in
            try PostgreSQLNotificationTable(hub: hub, database: $0).ended(before: time, limit: limit)
        }
        // Delete devices first: after a crash, the notification is still there, and deletion is resumed.
        for key in ended {
            while !Task.isCancelled,
                try await database.write({ [hub] in try PostgreSQLOutcomeTable(hub: hub, database: $0).removeSome(of: key) })
            {}
        }
        guard !ended.isEmpty, !Task.isCancelled else { return 0 }
        return try await database.write { [hub] in
            try PostgreSQLNotificationTable(hub: hub, database: $0).remove(ended)
            return ended.count
        }
    }

    // MARK: - Outcomes per device

    func devices(ofNotification sequence: Int64, from start: Int, limit: Int) async throws(PushError) -> [DeviceOutcome] {
        try await database.snapshot { [hub] in
            try PostgreSQLOutcomeTable(hub: hub, database: $0).devices(ofNotification: sequence, from: start, limit: limit)
        }
    }

    func outcomes(
        ofNotification sequence: Int64, matching query: DeviceOutcomeQuery?, limit: Int
    ) async throws(PushError) -> [RecordedOutcome] {
        var found: [RecordedOutcome] = []
        try await eachBatch(ofNotification: sequence, where: { query?.mayMatch($0) != false }) { batch in
            found += batch.matching(query).prefix(limit - found.count)
            return found.count < limit
        }
        return found
    }

    func tally(ofNotification sequence: Int64) async throws(PushError) -> OutcomeTally {
        var tally = OutcomeTally()
        try await eachBatch(ofNotification: sequence) { batch in
            tally.add(batch)
            return true
        }
        return tally
    }

    /// Number of batches per read, so that a large notification does not block other reads.
    private static let batchesPerRead = 16

    /// Calls `body` with the batches that satisfy `isIncluded`, in order, until it returns false.
    private func eachBatch(
        ofNotification sequence: Int64, where isIncluded: @escaping @Sendable ([UInt8]) -> Bool = { _ in true },
        _ body: (OutcomeBatch) -> Bool
    ) async throws(PushError) {
        var next: Int64 = 0
        while true {
            let part = try await database.read { [hub, next] in
                try PostgreSQLOutcomeTable(hub: hub, database: $0)
                    .batches(ofNotification: sequence, from: next, limit: Self.batchesPerRead, where: isIncluded)
            }
            for (_, batch) in part {
                if let batch, !body(batch) { return }
            }
            guard part.count == Self.batchesPerRead, let last = part.last?.first else { return }
            next = last + 1
        }
    }

    func removedDevices(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice] {
        try await database.snapshot { [hub] in
            try PostgreSQLOutcomeTable(hub: hub, database: $0).removedDevices(after: position, limit: limit)
        }
    }

    // MARK: - Plans

    func addPlan(_ plan: StoredPlan, parts: [[UInt8]]) async throws(PushError) -> Int64 {
        let content = PlanRow(plan).content.text()
        return try await database.write(size: parts.reduce(content.utf8.count) { $0 + $1.count }) { [hub] in
            try PostgreSQLPlanTable(hub: hub, database: $0).add(plan, content, parts: parts)
        }
    }

    func lastPlan() async throws(PushError) -> Int64 {
        try await database.read { [hub] in try PostgreSQLPlanTable(hub: hub, database: $0).last() }
    }

    func plan(_ number: Int64) async throws(PushError) -> StoredPlan? {
        try await database.read { [hub] in try PostgreSQLPlanTable(hub: hub, database: $0).plan(number) }
    }

    func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan] {
        try await database.read { [hub] in try PostgreSQLPlanTable(hub: hub, database: $0).plans(before: number, limit: limit) }
    }

    func latestPlan(of subject: String) async throws(PushError) -> StoredPlan? {
        try await database.read { [hub] in try PostgreSQLPlanTable(hub: hub, database: $0).latest(of: subject) }
    }

    func planPart(_ number: Int64, part: Int) async throws(PushError) -> [UInt8]? {
        try await database.read { [hub] in try PostgreSQLPlanTable(hub: hub, database: $0).part(part, of: number) }
    }

    func notifications(ofPlan number: Int64, limit: Int) async throws(PushError) -> [String] {
        try await database.read { [hub] in try PostgreSQLPlanTable(hub: hub, database: $0).notifications(of: number, limit: limit) }
    }

    func removePlans(madeBefore time: Timestamp, beyond newest: Int, limit: Int) async throws(PushError) -> Int {
        try await database.write { [hub] in
            try PostgreSQLPlanTable(hub: hub, database: $0).remove(madeBefore: time, beyond: newest, limit: limit)
        }
    }

    // MARK: - Jobs

    func putJob(_ job: NotificationHubJob) async throws(PushError) {
        let secrets = try database.seal.seal(JobRow(job).content, for: .job(job.id, hub: hub))
        try await database.write { [hub, seal = database.seal] in
            try PostgreSQLJobTable(hub: hub, seal: seal, database: $0).put(job, secrets)
        }
    }

    func job(_ id: String) async throws(PushError) -> NotificationHubJob? {
        try await database.read { [hub, seal = database.seal] in try PostgreSQLJobTable(hub: hub, seal: seal, database: $0).job(id) }
    }

    func jobs(limit: Int) async throws(PushError) -> [NotificationHubJob] {
        try await database.read { [hub, seal = database.seal] in
            try PostgreSQLJobTable(hub: hub, seal: seal, database: $0).jobs(limit: limit)
        }
    }

    func unfinishedJobs() async throws(PushError) -> [NotificationHubJob] {
        try await database.read { [hub, seal = database.seal] in try PostgreSQLJobTable(hub: hub, seal: seal, database: $0).unfinished() }
    }

    func removeJobs(endedBefore time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { [hub, seal = database.seal] in
            try PostgreSQLJobTable(hub: hub, seal: seal, database: $0).remove(endedBefore: time, limit: limit)
        }
    }
}
