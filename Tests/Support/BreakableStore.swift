package import PushModel
import Synchronization

/// A store that rejects chosen calls, as on a full disk, and counts all of them.
package final class BreakableStore: HubStore {
    package enum Call: Sendable, Hashable, CaseIterable { case commit, rows, accept, record, read, devices }

    private let store: any HubStore
    private let refused = Mutex<Set<Call>>([])
    private let commits = Mutex<[Int]>([])
    private let calls = Mutex<[Call: Int]>([:])

    package init(_ store: any HubStore) { self.store = store }

    package func refuse(_ calls: Set<Call>) { refused.withLock { $0 = calls } }

    /// Number of registrations removed by each stored change, in order.
    package var removals: [Int] { commits.withLock { $0 } }

    /// Number of calls of a kind, including rejected ones.
    package func count(of call: Call) -> Int { calls.withLock { $0[call] ?? 0 } }

    private func check(_ call: Call) throws(PushError) {
        calls.withLock { $0[call, default: 0] += 1 }
        guard refused.withLock({ $0.contains(call) }) else { return }
        throw PushError("storage.unavailable", "the disk is full", hint: "make room", status: 503, isRetryable: true)
    }

    package func load<Reader: StoredHubReader>(into reader: Reader) async throws(PushError) -> Reader {
        try await store.load(into: reader)
    }

    package func registrations(at rows: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        try check(.rows)
        return try await store.registrations(at: rows)
    }

    package func installations(at rows: [UInt32]) async throws(PushError) -> [InstallationRow] {
        try check(.rows)
        return try await store.installations(at: rows)
    }

    package func tags(behind row: UInt32?, limit: Int) async throws(PushError) -> [TagsRow] {
        try check(.rows)
        return try await store.tags(behind: row, limit: limit)
    }

    package func commit(_ change: RegistrationChange) async throws(PushError) {
        try check(.commit)
        try await store.commit(change)
        commits.withLock { $0.append(change.removals.count) }
    }

    package func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) async throws(PushError) -> [DeletedRegistration] {
        try check(.rows)
        return try await store.deletedRegistrations(subject, limit: limit)
    }

    package func removeTombstones(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try check(.commit)
        return try await store.removeTombstones(before: time, limit: limit)
    }

    package func accept(_ notification: StoredNotification) async throws(PushError) -> AcceptanceResult {
        try check(.accept)
        return try await store.accept(notification)
    }

    package func outcomes(
        ofNotification sequence: Int64, matching query: DeviceOutcomeQuery?, limit: Int
    ) async throws(PushError) -> [RecordedOutcome] {
        try check(.devices)
        return try await store.outcomes(ofNotification: sequence, matching: query, limit: limit)
    }

    package func tally(ofNotification sequence: Int64) async throws(PushError) -> OutcomeTally {
        try check(.devices)
        return try await store.tally(ofNotification: sequence)
    }

    package func acceptance(under key: IdempotencyKey) async throws(PushError) -> AcceptanceResult? {
        try check(.read)
        return try await store.acceptance(under: key)
    }

    package func unfinished(after sequence: Int64, limit: Int) async throws(PushError) -> [StoredNotification] {
        try check(.read)
        return try await store.unfinished(after: sequence, limit: limit)
    }

    package func unfinished(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification] {
        try check(.read)
        return try await store.unfinished(sequences)
    }

    package func record(_ progress: NotificationProgress) async throws(PushError) {
        try check(.record)
        try await store.record(progress)
    }

    package func notification(_ sequence: Int64) async throws(PushError) -> StoredNotification? {
        try check(.read)
        return try await store.notification(sequence)
    }

    package func notifications(before sequence: Int64?, limit: Int) async throws(PushError) -> [StoredNotification] {
        try check(.read)
        return try await store.notifications(before: sequence, limit: limit)
    }

    package func devices(ofNotification sequence: Int64, from start: Int, limit: Int) async throws(PushError) -> [DeviceOutcome] {
        try check(.read)
        try check(.devices)
        return try await store.devices(ofNotification: sequence, from: start, limit: limit)
    }

    package func removedDevices(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice] {
        try check(.read)
        return try await store.removedDevices(after: position, limit: limit)
    }

    package func putJob(_ job: NotificationHubJob) async throws(PushError) {
        try check(.record)
        try await store.putJob(job)
    }

    package func job(_ id: String) async throws(PushError) -> NotificationHubJob? { try await store.job(id) }

    package func jobs(limit: Int) async throws(PushError) -> [NotificationHubJob] { try await store.jobs(limit: limit) }

    package func unfinishedJobs() async throws(PushError) -> [NotificationHubJob] { try await store.unfinishedJobs() }

    package func removeJobs(endedBefore time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await store.removeJobs(endedBefore: time, limit: limit)
    }

    package func removeEnded(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try check(.commit)
        return try await store.removeEnded(before: time, limit: limit)
    }
    package func pruned(_ filter: PrunedFilter, below number: Int64?, limit: Int) async throws(PushError) -> [PrunedDevice] {
        try check(.read)
        return try await store.pruned(filter, below: number, limit: limit)
    }

    package func forgetPruned(before time: Timestamp, limit: Int, keepsUnreported: Bool) async throws(PushError) -> Int {
        try check(.commit)
        return try await store.forgetPruned(before: time, limit: limit, keepsUnreported: keepsUnreported)
    }

    package func unreportedPruned(limit: Int) async throws(PushError) -> [PrunedDevice] {
        try check(.read)
        return try await store.unreportedPruned(limit: limit)
    }

    package func countUnreportedPruned() async throws(PushError) -> Int {
        try check(.read)
        return try await store.countUnreportedPruned()
    }

    package func acknowledgePruned(upTo number: Int64) async throws(PushError) {
        try check(.commit)
        try await store.acknowledgePruned(upTo: number)
    }

    package func dropUnreportedPruned(beyond most: Int) async throws(PushError) -> Int {
        try check(.read)
        return try await store.dropUnreportedPruned(beyond: most)
    }
}

extension BreakableStore {
    package func hold(_ removals: [HeldRemoval]) async throws(PushError) {
        try check(.commit)
        try await store.hold(removals)
    }

    package func heldRemovals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) async throws(PushError) -> [HeldRemoval] {
        try check(.read)
        return try await store.heldRemovals(filter, below: number, limit: limit)
    }

    package func dropHeldRemovals(_ removals: [HeldRemoval]) async throws(PushError) -> Set<Int64> {
        try check(.commit)
        return try await store.dropHeldRemovals(removals)
    }
}

extension BreakableStore {
    package func addPlan(_ plan: StoredPlan, parts: [[UInt8]]) async throws(PushError) -> Int64 {
        try check(.accept)
        return try await store.addPlan(plan, parts: parts)
    }

    package func lastPlan() async throws(PushError) -> Int64 {
        try check(.read)
        return try await store.lastPlan()
    }

    package func plan(_ number: Int64) async throws(PushError) -> StoredPlan? {
        try check(.read)
        return try await store.plan(number)
    }

    package func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan] {
        try check(.read)
        return try await store.plans(before: number, limit: limit)
    }

    package func latestPlan(of subject: String) async throws(PushError) -> StoredPlan? {
        try check(.read)
        return try await store.latestPlan(of: subject)
    }

    package func planPart(_ number: Int64, part: Int) async throws(PushError) -> [UInt8]? {
        try check(.read)
        return try await store.planPart(number, part: part)
    }

    package func notifications(ofPlan number: Int64, limit: Int) async throws(PushError) -> [String] {
        try check(.read)
        return try await store.notifications(ofPlan: number, limit: limit)
    }

    package func removePlans(madeBefore time: Timestamp, beyond newest: Int, limit: Int) async throws(PushError) -> Int {
        try check(.accept)
        return try await store.removePlans(madeBefore: time, beyond: newest, limit: limit)
    }
}
