import PushHub
import PushModel
import Support
import Synchronization

/// A hub in a process that can be killed. After that the hub has no effect any more.
struct CrashingProcess: Sendable {
    let hub: NotificationHub
    let process: ProcessState

    /// Starts a process with the stored data of earlier ones. Nil if the disk fails during the start.
    static func start(
        over store: any HubStore, in world: SimulatedWorld, _ environment: HubEnvironment, _ settings: HubSettings
    ) async -> CrashingProcess? {
        let process = ProcessState()
        guard let loaded = try? await store.load(into: HubLoader()) else { return nil }
        let hub = NotificationHub(
            environment: environment, connectors: [CrashingConnector(world: world, process: process)],
            store: CrashingStore(store, world: world, process: process), loaded: loaded, settings: settings)
        do throws(PushError) {
            try await hub.resume()
            return CrashingProcess(hub: hub, process: process)
        } catch {
            process.die()
            await hub.stop()
            return nil
        }
    }
}

/// Whether a process is alive, for its connector and its store.
final class ProcessState: Sendable {
    private let isAlive = Atomic(true)

    var areGood: Bool { isAlive.load(ordering: .relaxed) }

    func die() { isAlive.store(false, ordering: .relaxed) }
}

/// A push service with random faults. Devices get a push before the hub gets the verdict.
struct CrashingConnector: Connector {
    let platforms: Set<Platform> = [.apns, .fcmV1]
    let world: SimulatedWorld
    let process: ProcessState

    func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        guard process.areGood else { return batch.handles.map { _ in .unknown(reason: "killed") } }
        let first = world.history.sent(batch)
        if world.chance(40) {
            try? await world.clock.sleep(until: world.clock.now + .milliseconds(world.number(1...20_000)))
        } else {
            for _ in 0..<world.number(0...3) { await Task.yield() }
        }
        // An interrupted push may have arrived or not.
        let verdicts = batch.handles.map { _ in
            Task.isCancelled && world.chance(50) ? .unknown(reason: "cut off") : world.verdict(on: batch.platform)
        }
        guard process.areGood else { return batch.handles.map { _ in .unknown(reason: "killed") } }
        world.history.answered(verdicts, from: first)
        return verdicts
    }
}

/// A disk with random faults. A write that it rejects is not stored.
struct CrashingStore: HubStore {
    let store: any HubStore
    let world: SimulatedWorld
    let process: ProcessState

    init(_ store: any HubStore, world: SimulatedWorld, process: ProcessState) {
        self.store = store
        self.world = world
        self.process = process
    }

    private func check() async throws(PushError) {
        if world.chance(30) { await Task.yield() }
        guard process.areGood, !world.diskFails() else {
            throw PushError("storage.unavailable", "the disk is full", hint: "make room", status: 503, isRetryable: true)
        }
    }

    // MARK: - Registrations

    func load<Reader: StoredHubReader>(into reader: Reader) async throws(PushError) -> Reader { try await store.load(into: reader) }

    func registrations(at rows: [UInt32]) async throws(PushError) -> [RegistrationRow] {
        try await check()
        return try await store.registrations(at: rows)
    }

    func installations(at rows: [UInt32]) async throws(PushError) -> [InstallationRow] {
        try await check()
        return try await store.installations(at: rows)
    }

    func tags(behind row: UInt32?, limit: Int) async throws(PushError) -> [TagsRow] {
        try await check()
        return try await store.tags(behind: row, limit: limit)
    }

    func commit(_ change: RegistrationChange) async throws(PushError) {
        try await check()
        try await store.commit(change)
    }

    func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) async throws(PushError) -> [DeletedRegistration] {
        try await check()
        return try await store.deletedRegistrations(subject, limit: limit)
    }

    func removeTombstones(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await store.removeTombstones(before: time, limit: limit)
    }

    // MARK: - Notifications

    func accept(_ notification: StoredNotification) async throws(PushError) -> AcceptanceResult {
        try await check()
        return try await store.accept(notification)
    }

    func outcomes(
        ofNotification sequence: Int64, matching query: DeviceOutcomeQuery?, limit: Int
    ) async throws(PushError) -> [RecordedOutcome] {
        try await check()
        return try await store.outcomes(ofNotification: sequence, matching: query, limit: limit)
    }

    func tally(ofNotification sequence: Int64) async throws(PushError) -> OutcomeTally {
        try await check()
        return try await store.tally(ofNotification: sequence)
    }

    func acceptance(under key: IdempotencyKey) async throws(PushError) -> AcceptanceResult? {
        try await check()
        return try await store.acceptance(under: key)
    }

    func unfinished(after sequence: Int64, limit: Int) async throws(PushError) -> [StoredNotification] {
        try await check()
        return try await store.unfinished(after: sequence, limit: limit)
    }

    func unfinished(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification] {
        try await check()
        return try await store.unfinished(sequences)
    }

    func record(_ progress: NotificationProgress) async throws(PushError) {
        try await check()
        try await store.record(progress)
        world.history.stored(progress)
    }

    func notification(_ sequence: Int64) async throws(PushError) -> StoredNotification? {
        try await check()
        return try await store.notification(sequence)
    }

    func notifications(before sequence: Int64?, limit: Int) async throws(PushError) -> [StoredNotification] {
        try await check()
        return try await store.notifications(before: sequence, limit: limit)
    }

    func devices(ofNotification sequence: Int64, from start: Int, limit: Int) async throws(PushError) -> [DeviceOutcome] {
        try await check()
        return try await store.devices(ofNotification: sequence, from: start, limit: limit)
    }

    func removedDevices(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice] {
        try await store.removedDevices(after: position, limit: limit)
    }

    func removeEnded(before time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await store.removeEnded(before: time, limit: limit)
    }

    // MARK: - Jobs

    func putJob(_ job: NotificationHubJob) async throws(PushError) { try await store.putJob(job) }

    func job(_ id: String) async throws(PushError) -> NotificationHubJob? { try await store.job(id) }

    func jobs(limit: Int) async throws(PushError) -> [NotificationHubJob] { try await store.jobs(limit: limit) }

    func unfinishedJobs() async throws(PushError) -> [NotificationHubJob] { try await store.unfinishedJobs() }

    func removeJobs(endedBefore time: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await store.removeJobs(endedBefore: time, limit: limit)
    }
}

extension CrashingStore {
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

extension CrashingStore {
    func hold(_ removals: [HeldRemoval]) async throws(PushError) { try await store.hold(removals) }

    func heldRemovals(_ filter: HeldRemovalFilter, below number: Int64?, limit: Int) async throws(PushError) -> [HeldRemoval] {
        try await store.heldRemovals(filter, below: number, limit: limit)
    }

    func dropHeldRemovals(_ removals: [HeldRemoval]) async throws(PushError) -> Set<Int64> {
        try await store.dropHeldRemovals(removals)
    }
}

extension CrashingStore {
    func addPlan(_ plan: StoredPlan, parts: [[UInt8]]) async throws(PushError) -> Int64 {
        try await check()
        return try await store.addPlan(plan, parts: parts)
    }

    func lastPlan() async throws(PushError) -> Int64 {
        try await check()
        return try await store.lastPlan()
    }

    func plan(_ number: Int64) async throws(PushError) -> StoredPlan? {
        try await check()
        return try await store.plan(number)
    }

    func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan] {
        try await check()
        return try await store.plans(before: number, limit: limit)
    }

    func latestPlan(of subject: String) async throws(PushError) -> StoredPlan? {
        try await check()
        return try await store.latestPlan(of: subject)
    }

    func planPart(_ number: Int64, part: Int) async throws(PushError) -> [UInt8]? {
        try await check()
        return try await store.planPart(number, part: part)
    }

    func notifications(ofPlan number: Int64, limit: Int) async throws(PushError) -> [String] {
        try await check()
        return try await store.notifications(ofPlan: number, limit: limit)
    }

    func removePlans(madeBefore time: Timestamp, beyond newest: Int, limit: Int) async throws(PushError) -> Int {
        try await check()
        return try await store.removePlans(madeBefore: time, beyond: newest, limit: limit)
    }
}
