import PushModel

/// Sends deferred because of their push services. Holds only the retry state of each; the rest is read from the store when it resumes.
///
/// Not thread-safe: it is part of the state of the actor that owns it.
struct DeferredSends: Sendable {
    private var waiting: [Int64: RetryState] = [:]
    private var dueTimes = TimeQueue<Int64>()
    /// Sends that wait for a slot at a push service, first in, first out. Entries of sends that have resumed are skipped.
    private var queues: [PushService: FIFOQueue<Int64>] = [:]
    /// Sends that may resume.
    private var ready = FIFOQueue<Int64>()
    /// Sleeps until the earliest resume time.
    var alarm: Task<Void, Never>?
    /// The time for which the alarm is set.
    var armed: Timestamp?

    var count: Int { waiting.count }

    /// - Parameter now: services whose retry time has come need only a slot.
    mutating func insert(_ sequence: Int64, _ retryState: RetryState, now: Timestamp) {
        waiting[sequence] = retryState
        for (service, wait) in retryState.services where wait.time <= now { queues[service, default: FIFOQueue()].append(sequence) }
        let awaited = retryState.services.values.map(\.time) + (retryState.deferredUntil.map { [$0] } ?? [])
        if let next = awaited.filter({ $0 > now }).min() { dueTimes.insert(sequence, at: next) }
        if let time = retryState.deferredUntil, time <= now { ready.append(sequence) }
    }

    /// Push services at which sends wait for a slot.
    var servicesWithWaiters: some Sequence<PushService> { queues.keys }

    func hasWaiters(for service: PushService) -> Bool { queues[service] != nil }

    /// Lets the first send that waits for a slot at a push service resume. Returns `false` if there is none.
    @discardableResult
    mutating func freed(_ service: PushService, now: Timestamp) -> Bool {
        while let sequence = queues[service]?.next() {
            guard let wait = waiting[sequence]?.services[service], wait.time <= now else { continue }
            ready.append(sequence)
            return true
        }
        queues[service] = nil
        return false
    }

    /// Lets a send resume, whatever it waits for.
    mutating func release(_ sequence: Int64) {
        if waiting[sequence] != nil { ready.append(sequence) }
    }

    /// Lets sends resume whose time has come.
    mutating func wake(_ now: Timestamp) {
        while let sequence = dueTimes.popFirst(dueBy: now) { ready.append(sequence) }
    }

    var nextDueTime: Timestamp? { dueTimes.first?.time }

    var isReady: Bool { !ready.isEmpty }

    /// Removes and returns the next send that may resume.
    mutating func next() -> (sequence: Int64, retryState: RetryState)? {
        while let sequence = ready.next() {
            if let retryState = waiting.removeValue(forKey: sequence) { return (sequence, retryState) }
        }
        return nil
    }
}
