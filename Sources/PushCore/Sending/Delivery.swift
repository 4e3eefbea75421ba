/// One notification on its way: what is known of its devices, and what of that is kept already.
struct Delivery: Sendable {
    struct News: Sendable {
        /// As in `SettledTarget`.
        var order: Int
        var device: DeviceOutcome
        /// Of the registration, where this is another end than the last push had.
        var changedPlace: UInt32?
    }

    let sequence: Int64
    /// As in ``KeptNotification``.
    let origin: [String]
    /// Without its devices.
    var outcome: NotificationOutcome
    /// Whether all devices are held until the end, for a caller who waits for them.
    private let holdsDevices: Bool
    private var settled: [(order: Int, device: DeviceOutcome)] = []
    private(set) var unkept = OutcomeBatch()
    /// With whom they belong to.
    private var lastOutcomes: [(place: UInt32, id: RegistrationID, outcome: OutcomeName)] = []
    private(set) var isKept = false
    /// Those that wait for their moment.
    var holds: Holds {
        didSet { areHoldsKept = areHoldsKept && holds == oldValue }
    }
    private var areHoldsKept = true
    /// Whether others wait than is kept.
    var hasNewHolds: Bool { !areHoldsKept }
    private(set) var done = DoneTargets()
    /// Set once the audience is known.
    var brake = RemovalBrake()

    init(_ kept: KeptNotification, start: Timestamp, holdsDevices: Bool) {
        self.holdsDevices = holdsDevices
        sequence = kept.sequence
        origin = kept.origin
        outcome = kept.outcome
        holds = kept.holds
    }

    /// The devices in the order of the targets; none where they are not held.
    var devices: [DeviceOutcome] { settled.sorted { $0.order < $1.order }.map(\.device) }

    var isAbandoned: Bool {
        let ends = Set(outcome.counts.values.joined().lazy.filter { $0.value > 0 }.map(\.key))
        return ends.contains(.abandoned) && ends.isSubset(of: [.abandoned, .skipped])
    }

    /// Whether somebody got nothing because it was cut short.
    var hasAbandoned: Bool { outcome.counts.values.contains { $0[.abandoned, default: 0] > 0 } }

    /// - Parameter table: tells whether a registration stands at its place still; the outcome is not that of whoever has it now.
    func progress(in table: RegistrationTable) -> NotificationProgress {
        NotificationProgress(
            sequence: sequence, outcome: outcome, devices: unkept,
            lastOutcomes: lastOutcomes.reduce(into: Dictionary(minimumCapacity: lastOutcomes.count)) { kept, last in
                if table.stands(last.id, at: last.place) { kept[last.place] = last.outcome }
            }, holds: areHoldsKept ? nil : holds)
    }

    /// - Parameter moment: when they have their verdicts.
    mutating func add(_ news: [News], at moment: Timestamp) {
        if !news.isEmpty { unkept.mark(moment) }
        for news in news {
            if holdsDevices { settled.append((news.order, news.device)) }
            unkept.append(news.device)
            if news.device.isRegistrationRemoved { outcome.countPruned(news.device) }
            if let place = news.changedPlace, let id = news.device.registrationID {
                lastOutcomes.append((place, id, news.device.outcome))
            }
        }
        for (end, devices) in news.ends { outcome.count(devices, end.platform, end.outcome) }
        isKept = false
    }

    mutating func wasKept() {
        unkept = OutcomeBatch()
        lastOutcomes = []
        (isKept, areHoldsKept) = (true, true)
    }

    /// These have no verdict and will get none: the work was cancelled.
    mutating func abandon(_ members: [UInt32], _ recipients: [Recipient], at moment: Timestamp) {
        add(
            zip(members, recipients).map { member, recipient in
                News(order: Int(member), device: recipient.outcome(.abandoned, reason: "", Self.cutShort, size: 0))
            }, at: moment)
    }

    mutating func skip(duplicates members: [UInt32], _ recipients: [Recipient], at moment: Timestamp) {
        add(
            zip(members, recipients).map { member, recipient in
                News(order: SettledTarget.order(ofDuplicate: member), device: recipient.skippedAsDuplicate)
            }, at: moment)
    }

    /// What is said of those.
    static let cutShort = "the delivery was cancelled"

    // MARK: - After a crash

    /// Reads who had their verdict from the process before.
    mutating func skipDone(in store: any NotificationStore) async throws(PushError) {
        var start = 0
        while true {
            let page = try await store.devices(ofNotification: sequence, from: start, limit: 1000)
            for device in page { done.insert(device) }
            start += page.count
            if page.count < 1000 { return }
        }
    }
}

/// How a device ended, for counting.
struct DeviceEnd: Hashable, Sendable {
    var platform: Platform
    var outcome: OutcomeName
}

extension [Delivery.News] {
    /// How many ended how; most end as the one before.
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
