/// Notifications whose push services have put them off: what each waits for, in a few bytes; all else is read from the store when
/// they go on. Part of an actor's state.
struct PutOffs: Sendable {
    private var waiting: [Int64: Patience] = [:]
    private var moments = TimeQueue<Int64>()
    /// For room at a push service, in the order in which they came; those that go on for another reason are passed over.
    private var lines: [PushService: Line<Int64>] = [:]
    /// Those that may go on.
    private var ready = Line<Int64>()
    /// Wakes at the first moment.
    var alarm: Task<Void, Never>?
    /// What the alarm sleeps until.
    var armed: Timestamp?

    var count: Int { waiting.count }

    /// - Parameter now: what may go on at this moment already waits for room.
    mutating func insert(_ sequence: Int64, _ patience: Patience, now: Timestamp) {
        waiting[sequence] = patience
        for (service, wait) in patience.services where wait.moment <= now { lines[service, default: Line()].append(sequence) }
        let awaited = patience.services.values.map(\.moment) + (patience.heldUntil.map { [$0] } ?? [])
        if let next = awaited.filter({ $0 > now }).min() { moments.insert(sequence, at: next) }
        if let moment = patience.heldUntil, moment <= now { ready.append(sequence) }
    }

    /// Push services at which somebody waits for room.
    var awaited: some Sequence<PushService> { lines.keys }

    func isAwaited(_ service: PushService) -> Bool { lines[service] != nil }

    /// There is room for one more at a push service. False where nobody can use it.
    @discardableResult
    mutating func freed(_ service: PushService, now: Timestamp) -> Bool {
        while let sequence = lines[service]?.next() {
            guard let wait = waiting[sequence]?.services[service], wait.moment <= now else { continue }
            ready.append(sequence)
            return true
        }
        lines[service] = nil
        return false
    }

    /// This one may go on, whatever it waits for.
    mutating func hurry(_ sequence: Int64) {
        if waiting[sequence] != nil { ready.append(sequence) }
    }

    /// Those whose moment has come may go on.
    mutating func wake(_ now: Timestamp) {
        while let sequence = moments.popFirst(dueBy: now) { ready.append(sequence) }
    }

    var nextMoment: Timestamp? { moments.first?.moment }

    var isReady: Bool { !ready.isEmpty }

    /// The next that may go on, with what it waited for.
    mutating func next() -> (sequence: Int64, patience: Patience)? {
        while let sequence = ready.next() {
            if let patience = waiting.removeValue(forKey: sequence) { return (sequence, patience) }
        }
        return nil
    }
}
