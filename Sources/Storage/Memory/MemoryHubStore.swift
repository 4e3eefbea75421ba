package import PushModel

/// The data of one hub in memory.
package actor MemoryHubStore: HubStore {
    private var registrations = MemoryRegistrations()
    private var notifications = MemoryNotifications()
    private var prunedDevices = MemoryPrunedDevices()
    private var heldRemovals = MemoryHeldRemovals()
    private var plans = MemoryPlans()
    private var jobs = MemoryJobs()

    /// Stores the events of the hub.
    private let runs: MemoryRunStore

    package init(runs: MemoryRunStore = MemoryRunStore()) { self.runs = runs }

    func removeAll() {
        registrations = MemoryRegistrations()
        notifications = MemoryNotifications()
        prunedDevices = MemoryPrunedDevices()
        heldRemovals = MemoryHeldRemovals()
        plans = MemoryPlans()
        jobs = MemoryJobs()
    }

    // MARK: - Registrations

    package func load<Reader: StoredHubReader>(into reader: Reader) -> Reader {
        var reader = reader
        registrations.stored(lastSequence: notifications.lastSequence).read(into: &reader)
        return reader
    }

    package func registrations(at rows: [UInt32]) -> [RegistrationRow] { registrations.registrations(at: rows) }

    package func installations(at rows: [UInt32]) -> [InstallationRow] { registrations.installations(at: rows) }

    package func tags(behind row: UInt32?, limit: Int) -> [TagsRow] { registrations.tags(after: row, limit: limit) }

    package func commit(_ change: RegistrationChange) async {
        registrations.remove(change)
        prunedDevices.commit(change)
        heldRemovals.commit(change)
        registrations.put(change)
        if !change.events.isEmpty { await runs.save(change.events) }
    }

    package func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) -> [DeletedRegistration] {
        registrations.deletedRegistrations(subject, limit: limit)
    }

    package func removeTombstones(before time: Timestamp, limit: Int) -> Int {
        registrations.removeTombstones(before: time, limit: limit)
    }

    // MARK: - Pruned devices

    package func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) -> [PrunedDevice] {
        prunedDevices.devices(filter, below: number, limit: limit)
    }

    package func forgetPruned(before time: Timestamp, limit: Int, keepsUnreported: Bool) -> Int {
        prunedDevices.forget(before: time, limit: limit, keepsUnreported: keepsUnreported)
    }

    package func unreportedPruned(limit: Int) -> [PrunedDevice] { prunedDevices.offer(limit) }

    package func countUnreportedPruned() -> Int { prunedDevices.unreported.count }

    package func acknowledgePruned(upTo number: Int64) { prunedDevices.acknowledge(upTo: number) }

    package func dropUnreportedPruned(beyond most: Int) -> Int { prunedDevices.dropUnreported(beyond: most) }

    // MARK: - Held removals

    package func hold(_ removals: [HeldRemoval]) { for removal in removals { heldRemovals.hold(removal) } }

    package func heldRemovals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) -> [HeldRemoval] {
        heldRemovals.removals(filter, below: number, limit: limit)
    }

    package func dropHeldRemovals(_ removals: [HeldRemoval]) -> Set<Int64> { heldRemovals.drop(removals) }

    // MARK: - Notifications

    package func accept(_ notification: StoredNotification) throws(PushError) -> AcceptanceResult {
        if let plan = notification.request.plan {
            if let known = notification.idempotency.flatMap({ notifications.acceptance(under: $0) }) { return known }
            guard notification.request.planNumber.map({ plans[$0] != nil }) ?? false else { throw PushError.planExpired(plan.id) }
        }
        return try notifications.accept(notification)
    }

    package func acceptance(under key: IdempotencyKey) -> AcceptanceResult? { notifications.acceptance(under: key) }

    package func unfinished(after sequence: Int64, limit: Int) -> [StoredNotification] {
        notifications.unfinished(after: sequence, limit: limit)
    }

    package func unfinished(_ sequences: [Int64]) -> [StoredNotification] { notifications.unfinished(sequences) }

    package func record(_ progress: NotificationProgress) async {
        notifications.record(progress)
        registrations.setLastOutcomes(progress.lastOutcomes)
        if !progress.events.isEmpty { await runs.save(progress.events) }
    }

    package func notification(_ sequence: Int64) -> StoredNotification? { notifications[sequence] }

    package func notifications(before sequence: Int64?, limit: Int) -> [StoredNotification] {
        notifications.notifications(before: sequence, limit: limit)
    }

    package func removeEnded(before time: Timestamp, limit: Int) -> Int { notifications.removeEnded(before: time, limit: limit) }

    // MARK: - Outcomes per device

    package func devices(ofNotification sequence: Int64, from start: Int, limit: Int) -> [DeviceOutcome] {
        notifications.devices(of: sequence, from: start, limit: limit)
    }

    package func outcomes(ofNotification sequence: Int64, matching query: DeviceOutcomeQuery?, limit: Int) -> [RecordedOutcome] {
        notifications.outcomes(of: sequence, matching: query, limit: limit)
    }

    package func tally(ofNotification sequence: Int64) -> OutcomeTally { notifications.tally(of: sequence) }

    package func removedDevices(after position: RemovedDevice.Position?, limit: Int) -> [RemovedDevice] {
        notifications.removedDevices(after: position, limit: limit)
    }

    // MARK: - Plans

    package func addPlan(_ plan: StoredPlan, parts: [[UInt8]]) -> Int64 { plans.add(plan, parts: parts) }

    package func lastPlan() -> Int64 { plans.last }

    package func plan(_ number: Int64) -> StoredPlan? { plans[number] }

    package func plans(before number: Int64?, limit: Int) -> [StoredPlan] {
        Array(plans.newestFirst.filter { $0.number < number ?? .max }.prefix(limit))
    }

    package func latestPlan(of subject: String) -> StoredPlan? { plans.newestFirst.first { $0.subject == subject } }

    package func planPart(_ number: Int64, part: Int) -> [UInt8]? { plans.part(part, of: number) }

    package func notifications(ofPlan number: Int64, limit: Int) -> [String] {
        Array(notifications.ids(ofPlan: number).prefix(limit))
    }

    package func removePlans(madeBefore time: Timestamp, beyond newest: Int, limit: Int) -> Int {
        plans.remove(madeBefore: time, beyond: newest, limit: limit, except: notifications.boundPlans)
    }

    // MARK: - Jobs

    package func putJob(_ job: NotificationHubJob) { jobs.put(job) }

    package func job(_ id: String) -> NotificationHubJob? { jobs[id] }

    package func jobs(limit: Int) -> [NotificationHubJob] { Array(jobs.oldestFirst.reversed().prefix(limit)) }

    package func unfinishedJobs() -> [NotificationHubJob] { jobs.oldestFirst.filter { !$0.status.isFinal } }

    package func removeJobs(endedBefore time: Timestamp, limit: Int) -> Int { jobs.remove(endedBefore: time, limit: limit) }
}
