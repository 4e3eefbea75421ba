import PushModel

/// The tally of one notification's delivery: the results so far, and which of them are stored.
struct DeliveryTally: Sendable {
    /// A device with its final result.
    struct CompletedDevice: Sendable {
        /// As in `CompletedTarget`.
        var order: Int
        var device: DeviceOutcome
        /// Row of the registration, if the result differs from that of its last push.
        var changedRow: UInt32?
    }

    let sequence: Int64
    /// As in ``StoredNotification``.
    let origin: [String]
    /// Without devices.
    var outcome: NotificationOutcome
    /// Whether all results stay in memory until the end, for a sender who waits for them.
    private let keepsDevices: Bool
    private var completed: [(order: Int, device: DeviceOutcome)] = []
    private(set) var unstored = OutcomeBatch()
    /// With the registration's id, because its row may be reused.
    private var lastOutcomes: [(row: UInt32, id: RegistrationID, outcome: OutcomeName)] = []
    private(set) var isStored = false
    /// Devices that hooks have deferred.
    var deferredDevices: DeferredDevices {
        didSet { areDeferralsStored = areDeferralsStored && deferredDevices == oldValue }
    }
    private var areDeferralsStored = true
    /// Whether the deferred devices differ from the stored ones.
    var hasNewDeferrals: Bool { !areDeferralsStored }
    private(set) var done = FinishedTargets()
    /// Set once the audience is known.
    var brake = RemovalBrake()

    init(_ stored: StoredNotification, start: Timestamp, keepsDevices: Bool) {
        self.keepsDevices = keepsDevices
        sequence = stored.sequence
        origin = stored.origin
        outcome = stored.outcome
        deferredDevices = stored.deferredDevices
    }

    /// The devices in the order of the targets; empty if results do not stay in memory.
    var devices: [DeviceOutcome] { completed.sorted { $0.order < $1.order }.map(\.device) }

    var isAbandoned: Bool {
        let ends = Set(outcome.counts.values.joined().lazy.filter { $0.value > 0 }.map(\.key))
        return ends.contains(.abandoned) && ends.isSubset(of: [.abandoned, .skipped])
    }

    /// Whether any device got nothing because the delivery was cancelled.
    var hasAbandoned: Bool { outcome.counts.values.contains { $0[.abandoned, default: 0] > 0 } }

    /// - Parameter directory: tells whether a registration is still in its row; a new one must not get the outcome.
    func progress(in directory: RegistrationDirectory) -> NotificationProgress {
        NotificationProgress(
            sequence: sequence, outcome: outcome, devices: unstored,
            // Without new outcomes, the table is not copied.
            lastOutcomes: lastOutcomes.isEmpty ? [:] : storedOutcomes(directory.table),
            deferredDevices: areDeferralsStored ? nil : deferredDevices)
    }

    private func storedOutcomes(_ table: RegistrationTable) -> [UInt32: OutcomeName] {
        lastOutcomes.reduce(into: Dictionary(minimumCapacity: lastOutcomes.count)) { stored, last in
            if table.isStored(last.id, at: last.row) { stored[last.row] = last.outcome }
        }
    }

    /// - Parameter time: the time of the results.
    mutating func add(_ results: [CompletedDevice], at time: Timestamp) {
        if !results.isEmpty { unstored.mark(time) }
        for result in results {
            if keepsDevices { completed.append((result.order, result.device)) }
            unstored.append(result.device)
            if result.device.isRegistrationRemoved { outcome.tally.countPruned(result.device) }
            if let row = result.changedRow, let id = result.device.registrationID {
                lastOutcomes.append((row, id, result.device.outcome))
            }
        }
        for (end, devices) in results.ends { outcome.tally.count(devices, end.platform, end.outcome) }
        isStored = false
    }

    mutating func markStored() {
        unstored = OutcomeBatch()
        lastOutcomes = []
        (isStored, areDeferralsStored) = (true, true)
    }

    /// Records that devices get nothing because the delivery was cancelled.
    mutating func abandon(_ members: [UInt32], _ recipients: [Recipient], at time: Timestamp) {
        add(
            zip(members, recipients).map { member, recipient in
                CompletedDevice(order: Int(member), device: recipient.outcome(.abandoned, reason: "", .cancelled, size: 0))
            }, at: time)
    }

    mutating func skip(duplicates members: [UInt32], _ recipients: [Recipient], at time: Timestamp) {
        add(
            zip(members, recipients).map { member, recipient in
                CompletedDevice(order: CompletedTarget.order(ofDuplicate: member), device: recipient.duplicateOutcome)
            }, at: time)
    }

    // MARK: - After a crash

    /// Loads the devices that have results from earlier processes.
    mutating func dropDelivered(in store: any NotificationStore) async throws(PushError) {
        var start = 0
        while true {
            let page = try await store.devices(ofNotification: sequence, from: start, limit: 1000)
            for device in page { done.insert(device) }
            start += page.count
            if page.count < 1000 { return }
        }
    }
}

/// The kind of a device's result, for counting.
struct DeviceEnd: Hashable, Sendable {
    var platform: Platform
    var outcome: OutcomeName
}

extension [DeliveryTally.CompletedDevice] {
    /// Counts results by kind. Most have the same kind as the one before.
    var ends: [DeviceEnd: Int] {
        var ends: [DeviceEnd: Int] = [:]
        var last: (platform: Platform, outcome: OutcomeName, count: Int)?
        func add() { if let last { ends[DeviceEnd(platform: last.platform, outcome: last.outcome), default: 0] += last.count } }
        for index in indices {
            let (platform, outcome) = (self[index].device.platform, self[index].device.outcome)
            if last?.outcome == outcome, last?.platform == platform {
                last?.count += 1
            } else {
                add()
                last = (platform, outcome, 1)
            }
        }
        add()
        return ends
    }
}
