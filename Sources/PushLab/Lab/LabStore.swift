package import PushModel

/// Stores of a lab's hubs. The lab's clock does not advance while one waits for the disk: see ``LabThread``.
struct LabNamespaceStore: NamespaceStore {
    let base: any NamespaceStore
    let thread: LabThread

    func load() async throws(PushError) -> StoredNamespace { try await thread.outside(try await base.load()) }

    func putRules(_ rules: [AuthorizationRule]) async throws(PushError) { try await thread.outside(try await base.putRules(rules)) }

    func putHub(_ hub: HubRecord) async throws(PushError) { try await thread.outside(try await base.putHub(hub)) }

    func removeHub(_ number: Int64) async throws(PushError) { try await thread.outside(try await base.removeHub(number)) }

    func store(ofHub number: Int64) -> any HubStore { LabHubStore(base: base.store(ofHub: number), thread: thread) }
}

struct LabHubStore: Sendable {
    let base: any HubStore
    let thread: LabThread
}

extension LabHubStore: RegistrationStore, TombstoneStore {
    func load<Reader: StoredHubReader>(into reader: Reader) async throws(PushError) -> Reader {
        try await thread.outside(try await base.load(into: reader))
    }

    func registrations(at rows: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        try await thread.outside(try await base.registrations(at: rows))
    }

    func installations(at rows: [UInt32]) async throws(PushError) -> [InstallationRow] {
        try await thread.outside(try await base.installations(at: rows))
    }

    func tags(behind row: UInt32?, limit: Int) async throws(PushError) -> [TagsRow] {
        try await thread.outside(try await base.tags(behind: row, limit: limit))
    }

    func commit(_ change: RegistrationChange) async throws(PushError) { try await thread.outside(try await base.commit(change)) }

    func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) async throws(PushError) -> [DeletedRegistration] {
        try await thread.outside(try await base.deletedRegistrations(subject, limit: limit))
    }

    func removeTombstones(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await thread.outside(try await base.removeTombstones(before: time, limit: limit))
    }
}

extension LabHubStore: NotificationStore {
    func accept(_ notification: StoredNotification) async throws(PushError) -> AcceptanceResult {
        try await thread.outside(try await base.accept(notification))
    }

    func acceptance(under key: IdempotencyKey) async throws(PushError) -> AcceptanceResult? {
        try await thread.outside(try await base.acceptance(under: key))
    }

    func unfinished(after sequence: Int64, limit: Int) async throws(PushError) -> [StoredNotification] {
        try await thread.outside(try await base.unfinished(after: sequence, limit: limit))
    }

    func record(_ progress: NotificationProgress) async throws(PushError) { try await thread.outside(try await base.record(progress)) }

    func unfinished(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification] {
        try await thread.outside(try await base.unfinished(sequences))
    }

    func outcomes(
        ofNotification sequence: Int64, matching query: DeviceOutcomeQuery?, limit: Int
    ) async throws(PushError) -> [RecordedOutcome] {
        try await thread.outside(try await base.outcomes(ofNotification: sequence, matching: query, limit: limit))
    }

    func tally(ofNotification sequence: Int64) async throws(PushError) -> OutcomeTally {
        try await thread.outside(try await base.tally(ofNotification: sequence))
    }

    func notification(_ sequence: Int64) async throws(PushError) -> StoredNotification? {
        try await thread.outside(try await base.notification(sequence))
    }

    func notifications(before sequence: Int64?, limit: Int) async throws(PushError) -> [StoredNotification] {
        try await thread.outside(try await base.notifications(before: sequence, limit: limit))
    }

    func devices(ofNotification sequence: Int64, from start: Int, limit: Int) async throws(PushError) -> [DeviceOutcome] {
        try await thread.outside(try await base.devices(ofNotification: sequence, from: start, limit: limit))
    }

    func removedDevices(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice] {
        try await thread.outside(try await base.removedDevices(after: position, limit: limit))
    }

    func removeEnded(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await thread.outside(try await base.removeEnded(before: time, limit: limit))
    }
}

extension LabHubStore: JobStore {
    func putJob(_ job: NotificationHubJob) async throws(PushError) { try await thread.outside(try await base.putJob(job)) }

    func job(_ id: String) async throws(PushError) -> NotificationHubJob? { try await thread.outside(try await base.job(id)) }

    func jobs(limit: Int) async throws(PushError) -> [NotificationHubJob] { try await thread.outside(try await base.jobs(limit: limit)) }

    func unfinishedJobs() async throws(PushError) -> [NotificationHubJob] { try await thread.outside(try await base.unfinishedJobs()) }

    func removeJobs(endedBefore time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await thread.outside(try await base.removeJobs(endedBefore: time, limit: limit))
    }
}

extension LabHubStore: PrunedStore {
    func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await thread.outside(try await base.pruned(filter, below: number, limit: limit))
    }

    func forgetPruned(before time: Timestamp, limit: Int, keepsUnreported: Bool) async throws(PushError) -> Int {
        try await thread.outside(try await base.forgetPruned(before: time, limit: limit, keepsUnreported: keepsUnreported))
    }

    func unreportedPruned(limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await thread.outside(try await base.unreportedPruned(limit: limit))
    }

    func countUnreportedPruned() async throws(PushError) -> Int {
        try await thread.outside(try await base.countUnreportedPruned())
    }

    func acknowledgePruned(upTo number: Int64) async throws(PushError) {
        try await thread.outside(try await base.acknowledgePruned(upTo: number))
    }

    func dropUnreportedPruned(beyond most: Int) async throws(PushError) -> Int {
        try await thread.outside(try await base.dropUnreportedPruned(beyond: most))
    }
}

extension LabHubStore: HeldRemovalStore {
    func hold(_ removals: [HeldRemoval]) async throws(PushError) { try await thread.outside(try await base.hold(removals)) }

    func heldRemovals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) async throws(PushError) -> [HeldRemoval] {
        try await thread.outside(try await base.heldRemovals(filter, below: number, limit: limit))
    }

    func dropHeldRemovals(_ removals: [HeldRemoval]) async throws(PushError) -> Set<Int64> {
        try await thread.outside(try await base.dropHeldRemovals(removals))
    }
}

extension LabHubStore: PlanStore {
    func addPlan(_ plan: StoredPlan, parts: [[UInt8]]) async throws(PushError) -> Int64 {
        try await thread.outside(try await base.addPlan(plan, parts: parts))
    }

    func lastPlan() async throws(PushError) -> Int64 {
        try await thread.outside(try await base.lastPlan())
    }

    func plan(_ number: Int64) async throws(PushError) -> StoredPlan? {
        try await thread.outside(try await base.plan(number))
    }

    func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan] {
        try await thread.outside(try await base.plans(before: number, limit: limit))
    }

    func latestPlan(of subject: String) async throws(PushError) -> StoredPlan? {
        try await thread.outside(try await base.latestPlan(of: subject))
    }

    func planPart(_ number: Int64, part: Int) async throws(PushError) -> [UInt8]? {
        try await thread.outside(try await base.planPart(number, part: part))
    }

    func notifications(ofPlan number: Int64, limit: Int) async throws(PushError) -> [String] {
        try await thread.outside(try await base.notifications(ofPlan: number, limit: limit))
    }

    func removePlans(madeBefore time: Timestamp, beyond newest: Int, limit: Int) async throws(PushError) -> Int {
        try await thread.outside(try await base.removePlans(madeBefore: time, beyond: newest, limit: limit))
    }
}

/// Stores provider tokens. The lab's clock does not advance while it waits for the disk.
private struct LabProviderTokenStore: ProviderTokenStore {
    let base: any ProviderTokenStore
    let thread: LabThread

    func token(_ key: String) async throws(PushError) -> ProviderToken? { try await thread.outside(try await base.token(key)) }

    func put(_ token: ProviderToken, for key: String) async throws(PushError) {
        try await thread.outside(try await base.put(token, for: key))
    }
}

extension Lab {
    package func forLab(_ store: any ProviderTokenStore) -> any ProviderTokenStore {
        LabProviderTokenStore(base: store, thread: thread)
    }

    package func forLab(_ store: any NamespaceStore) -> any NamespaceStore { LabNamespaceStore(base: store, thread: thread) }
}
