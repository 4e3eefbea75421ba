import PushModel
import Synchronization

/// A disk that breaks its contract. The checks must detect that.
struct FaultyDisk: HubStore {
    enum Fault: Sendable, CaseIterable {
        /// An accepted notification is missing from the unfinished ones.
        case forgetsNotifications
        /// Reports devices as stored that are not.
        case losesDevices
        /// A process reads no devices that were already reached.
        case hidesDevices
        case doublesDevices
        /// The first step is stored as the end.
        case endsEarly
        case losesEnds
        case losesRegistrations
    }

    let store: any HubStore
    let fault: Fault
    private let count = Count()

    init(_ store: any HubStore, _ fault: Fault) {
        self.store = store
        self.fault = fault
    }

    func load<Reader: StoredHubReader>(into reader: Reader) async throws(PushError) -> Reader { try await store.load(into: reader) }

    func registrations(at rows: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        try await store.registrations(at: rows)
    }

    func installations(at rows: [UInt32]) async throws(PushError) -> [InstallationRow] {
        try await store.installations(at: rows)
    }

    func tags(behind row: UInt32?, limit: Int) async throws(PushError) -> [TagsRow] {
        try await store.tags(behind: row, limit: limit)
    }

    func commit(_ change: RegistrationChange) async throws(PushError) {
        if fault == .losesRegistrations, count.isEvery(9) { return }
        try await store.commit(change)
    }

    func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) async throws(PushError) -> [DeletedRegistration] {
        try await store.deletedRegistrations(subject, limit: limit)
    }

    func removeTombstones(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await store.removeTombstones(before: time, limit: limit)
    }

    func accept(_ notification: StoredNotification) async throws(PushError) -> AcceptanceResult { try await store.accept(notification) }

    func outcomes(
        ofNotification sequence: Int64, matching query: DeviceOutcomeQuery?, limit: Int
    ) async throws(PushError) -> [RecordedOutcome] {
        try await store.outcomes(ofNotification: sequence, matching: query, limit: limit)
    }

    func tally(ofNotification sequence: Int64) async throws(PushError) -> OutcomeTally {
        try await store.tally(ofNotification: sequence)
    }

    func acceptance(under key: IdempotencyKey) async throws(PushError) -> AcceptanceResult? { try await store.acceptance(under: key) }

    func unfinished(after sequence: Int64, limit: Int) async throws(PushError) -> [StoredNotification] {
        let all = try await store.unfinished(after: sequence, limit: limit)
        return fault == .forgetsNotifications ? Array(all.dropFirst()) : all
    }

    func unfinished(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification] { try await store.unfinished(sequences) }

    func record(_ progress: NotificationProgress) async throws(PushError) {
        var progress = progress
        let isStep = !progress.devices.isEmpty
        switch fault {
        case .losesDevices where isStep && count.isEvery(5): progress.devices = OutcomeBatch()
        case .doublesDevices where isStep && count.isEvery(5):
            progress.devices = OutcomeBatch(Array(progress.devices) + Array(progress.devices))
        case .endsEarly where !progress.outcome.state.isFinal:
            (progress.outcome.state, progress.outcome.times.endedAt) = (.completed, progress.outcome.startedAt)
        case .losesEnds where progress.outcome.state.isFinal && count.isEvery(5): return
        default: break
        }
        try await store.record(progress)
    }

    func notification(_ sequence: Int64) async throws(PushError) -> StoredNotification? { try await store.notification(sequence) }

    func notifications(before sequence: Int64?, limit: Int) async throws(PushError) -> [StoredNotification] {
        try await store.notifications(before: sequence, limit: limit)
    }

    func devices(ofNotification sequence: Int64, from start: Int, limit: Int) async throws(PushError) -> [DeviceOutcome] {
        // Hubs read pages; the check reads everything.
        if fault == .hidesDevices, limit < .max { return [] }
        return try await store.devices(ofNotification: sequence, from: start, limit: limit)
    }

    func removedDevices(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice] {
        try await store.removedDevices(after: position, limit: limit)
    }

    func removeEnded(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await store.removeEnded(before: time, limit: limit)
    }

    func putJob(_ job: NotificationHubJob) async throws(PushError) { try await store.putJob(job) }

    func job(_ id: String) async throws(PushError) -> NotificationHubJob? { try await store.job(id) }

    func jobs(limit: Int) async throws(PushError) -> [NotificationHubJob] { try await store.jobs(limit: limit) }

    func unfinishedJobs() async throws(PushError) -> [NotificationHubJob] { try await store.unfinishedJobs() }

    func removeJobs(endedBefore time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await store.removeJobs(endedBefore: time, limit: limit)
    }
}

private final class Count: Sendable {
    private let number = Atomic(0)

    func isEvery(_ count: Int) -> Bool { number.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: count) }
}

extension FaultyDisk {
    func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await store.pruned(filter, below: number, limit: limit)
    }

    func forgetPruned(before time: Timestamp, limit: Int, keepsUnreported: Bool) async throws(PushError) -> Int {
        try await store.forgetPruned(before: time, limit: limit, keepsUnreported: keepsUnreported)
    }

    func unreportedPruned(limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await store.unreportedPruned(limit: limit)
    }

    func countUnreportedPruned() async throws(PushError) -> Int { try await store.countUnreportedPruned() }

    func acknowledgePruned(upTo number: Int64) async throws(PushError) {
        try await store.acknowledgePruned(upTo: number)
    }

    func dropUnreportedPruned(beyond most: Int) async throws(PushError) -> Int {
        try await store.dropUnreportedPruned(beyond: most)
    }
}

extension FaultyDisk {
    func hold(_ removals: [HeldRemoval]) async throws(PushError) { try await store.hold(removals) }

    func heldRemovals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) async throws(PushError) -> [HeldRemoval] {
        try await store.heldRemovals(filter, below: number, limit: limit)
    }

    func dropHeldRemovals(_ removals: [HeldRemoval]) async throws(PushError) -> Set<Int64> {
        try await store.dropHeldRemovals(removals)
    }
}

extension FaultyDisk {
    func addPlan(_ plan: StoredPlan, parts: [[UInt8]]) async throws(PushError) -> Int64 {
        try await store.addPlan(plan, parts: parts)
    }

    func lastPlan() async throws(PushError) -> Int64 {
        try await store.lastPlan()
    }

    func plan(_ number: Int64) async throws(PushError) -> StoredPlan? {
        try await store.plan(number)
    }

    func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan] {
        try await store.plans(before: number, limit: limit)
    }

    func latestPlan(of subject: String) async throws(PushError) -> StoredPlan? {
        try await store.latestPlan(of: subject)
    }

    func planPart(_ number: Int64, part: Int) async throws(PushError) -> [UInt8]? {
        try await store.planPart(number, part: part)
    }

    func notifications(ofPlan number: Int64, limit: Int) async throws(PushError) -> [String] {
        try await store.notifications(ofPlan: number, limit: limit)
    }

    func removePlans(madeBefore time: Timestamp, beyond newest: Int, limit: Int) async throws(PushError) -> Int {
        try await store.removePlans(madeBefore: time, beyond: newest, limit: limit)
    }
}
