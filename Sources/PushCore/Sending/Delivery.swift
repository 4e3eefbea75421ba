/// One notification on its way: what is known of its devices, and what of that is kept already.
struct Delivery: Sendable {
    struct News: Sendable {
        var place: Int
        var device: DeviceOutcome
        /// Of the registration, where this is another end than the last push had.
        var changedPlace: UInt32?
    }

    let sequence: Int64
    /// Without its devices.
    var outcome: NotificationOutcome
    /// Whether all devices are held until the end, for a caller who waits for them.
    private let holdsDevices: Bool
    private var settled: [(place: Int, device: DeviceOutcome)] = []
    private var settledPlaces: Set<Int> = []
    private(set) var unkept = OutcomeBatch()
    /// By place, with whom it belongs to.
    private var lastOutcomes: [UInt32: (id: RegistrationID, outcome: OutcomeName)] = [:]
    private(set) var isKept = false
    private var doneRegistrations: Set<RegistrationID> = []
    private var doneHandles: Set<DeviceHandle> = []

    init(_ kept: KeptNotification, start: Timestamp, holdsDevices: Bool) {
        self.holdsDevices = holdsDevices
        sequence = kept.sequence
        outcome = kept.outcome
    }

    /// The devices in the order of the targets; none where they are not held.
    var devices: [DeviceOutcome] { settled.sorted { $0.place < $1.place }.map(\.device) }

    var isAbandoned: Bool {
        outcome.counts.values.allSatisfy { $0.allSatisfy { [.abandoned, .skipped].contains($0.key) || $0.value == 0 } }
    }

    /// Whether somebody got nothing because it was cut short.
    var hasAbandoned: Bool { outcome.counts.values.contains { $0[.abandoned, default: 0] > 0 } }

    /// - Parameter stands: whether a registration stands at a place still; the outcome is not that of whoever has the place now.
    func progress(_ stands: (RegistrationID, UInt32) -> Bool) -> NotificationProgress {
        NotificationProgress(
            sequence: sequence, outcome: outcome, devices: unkept,
            lastOutcomes: lastOutcomes.filter { stands($1.id, $0) }.mapValues(\.outcome))
    }

    mutating func add(_ news: [News]) {
        for news in news {
            settledPlaces.insert(news.place)
            if holdsDevices { settled.append((news.place, news.device)) }
            unkept.append(news.device)
            if let place = news.changedPlace, let id = news.device.registrationID {
                lastOutcomes[place] = (id, news.device.outcome)
            }
        }
        outcome.count(news.lazy.map(\.device))
        isKept = false
    }

    mutating func wasKept() {
        unkept = OutcomeBatch()
        lastOutcomes = [:]
        isKept = true
    }

    /// Whoever has no verdict will get none: the work was cancelled.
    mutating func abandonRest(of targets: Targets) {
        let all = targets.list + targets.duplicates
        add(
            all.indices.filter { !settledPlaces.contains($0) }.map { place in
                let isDuplicate = place >= targets.list.count
                return News(
                    place: place,
                    device: isDuplicate
                        ? all[place].outcome(
                            .skipped, reason: "", "the same handle already got this notification", size: 0)
                        : all[place].outcome(.abandoned, reason: "", "the delivery was cancelled", size: 0))
            })
    }

    // MARK: - After a crash

    /// Reads who had their verdict from the process before.
    mutating func skipDone(in store: any NotificationStore) async throws(PushError) {
        var start = 0
        while true {
            let page = try await store.devices(ofNotification: sequence, from: start, limit: 1000)
            for device in page {
                if let id = device.registrationID { doneRegistrations.insert(id) } else { doneHandles.insert(device.handle) }
            }
            start += page.count
            if page.count < 1000 { return }
        }
    }

    func isDone(_ target: Targets.Target) -> Bool {
        target.registrationID.map(doneRegistrations.contains) ?? doneHandles.contains(target.handle)
    }
}
