import PushCore
import RemoteHub
import Simulators
import Synchronization

/// One client's part of a lab: its phones among all phones, what happens on them, the faults that it has ordered.
final class LabSession: Sendable {
    let id: String
    /// As the server spells it.
    let hub: String
    let run: String
    let phones: SimulatedLab
    /// How many exchanges there were before it began.
    let firstExchange: Int
    /// How many entries the trace had.
    let firstEntry: Int
    private let state: Mutex<State>

    private struct State {
        var heard: Timestamp
        var requests = 0
        /// Resumed when the last of them is answered.
        var ending: CheckedContinuation<Void, Never>?
        /// The latest of them, and how many were there before.
        var events: [LabEvent] = []
        var forgotten = 0
        var eventBytes = 0
        var eventCount: Int { forgotten + events.count }
        var serial = 0
        var waiters: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
        /// Every handle that its phones ever had, in order.
        var handles: [DeviceHandle] = []
        var known: Set<DeviceHandle> = []
        var isOver = false

        mutating func append(_ event: LabEvent) {
            events.append(event)
            eventBytes += event.storedBytes
            guard eventBytes > LabSession.eventLimit else { return }
            // A quarter at a time.
            var count = 0
            while eventBytes > LabSession.eventLimit / 4 * 3, count < events.count {
                eventBytes -= events[count].storedBytes
                count += 1
            }
            events.removeFirst(count)
            forgotten += count
        }
    }

    /// - Parameter now: of the system's clock.
    init(id: String, hub: String, run: String, phones: SimulatedLab, firstExchange: Int, firstEntry: Int, now: Timestamp) {
        (self.id, self.hub, self.run, self.phones) = (id, hub, run, phones)
        (self.firstExchange, self.firstEntry) = (firstExchange, firstEntry)
        state = Mutex(State(heard: now))
    }

    // MARK: - Its client

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Counts a request as under way, until ``requestEnded(now:)``. False where the session is over: then it makes nothing any more.
    func requestCame() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.requests += 1
            return true
        }
    }

    func requestEnded(now: Timestamp) {
        let ending = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.requests -= 1
            state.heard = now
            guard state.requests == 0 else { return nil }
            defer { state.ending = nil }
            return state.ending
        }
        ending?.resume()
    }

    // MARK: - Events

    var eventCount: Int { state.withLock { $0.eventCount } }

    /// Bytes of the events that are kept; the oldest of more are forgotten.
    static let eventLimit = 64 << 20

    /// Those behind the first `count`, and how many there are.
    func events(after count: Int) -> (events: [LabEvent], count: Int) {
        state.withLock { (Array($0.events.dropFirst(max(0, count - $0.forgotten))), $0.eventCount) }
    }

    func note(_ event: LabEvent) {
        let due = state.withLock { state in
            state.append(event)
            let due = state.waiters.filter { $0.value.count < state.eventCount }
            for serial in due.keys { state.waiters[serial] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Suspends until there are more than `count` events, or the session is over.
    func more(than count: Int) async {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isOver || state.eventCount > count || Task.isCancelled { return true }
                    state.waiters[serial] = (count, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: serial) }?.continuation.resume()
        }
    }

    // MARK: - What it leaves behind

    /// False for a handle that is known.
    func note(_ handle: DeviceHandle) -> Bool {
        state.withLock { state in
            guard state.known.insert(handle).inserted else { return false }
            state.handles.append(handle)
            return true
        }
    }

    var handles: [DeviceHandle] { state.withLock { $0.handles } }

    // MARK: - Its end

    /// Takes no request any more, and suspends until those under way are answered: then nothing is made any more that would stay.
    /// False, and at once, where it was over already, or where its client was heard of after `limit`.
    func end(silentSince limit: Timestamp? = nil) async -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
            if let limit, state.requests > 0 || state.heard > limit { return (false, []) }
            defer { (state.isOver, state.waiters) = (true, [:]) }
            return (!state.isOver, state.waiters.values.map(\.continuation))
        }
        for continuation in waiting { continuation.resume() }
        guard isFirst else { return false }
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                if state.requests > 0 { state.ending = continuation }
                return state.requests == 0
            }
            if isQuiet { continuation.resume() }
        }
        return true
    }
}

extension LabEvent {
    /// About as many bytes as it takes.
    fileprivate var storedBytes: Int {
        switch self {
        case .phone(let event): 200 + event.text.utf8.count
        case .wake(_, let item, _): 400 + item.payload.count + item.title.utf8.count + item.body.utf8.count + item.text.utf8.count
        }
    }
}

/// Which session a phone of the lab belongs to; those that were made of a handle that somebody pushed to belong to none.
final class PhoneOwners: Sendable {
    private let sessions = Mutex<[PhoneID: LabSession]>([:])

    func give(_ phone: PhoneID, to session: LabSession) { sessions.withLock { $0[phone] = session } }

    func forget(_ phones: [PhoneID]) {
        sessions.withLock { sessions in
            for phone in phones { sessions[phone] = nil }
        }
    }

    @Sendable func note(_ event: PhoneEvent) { owner(of: event.phone)?.note(.phone(DeviceEvent(event))) }

    @Sendable func note(_ wake: AppDelivery) {
        guard let session = owner(of: wake.phone) else { return }
        let isKept = session.phones.phones.description(of: wake.phone)?.handlesPushes ?? false
        session.note(.wake(DeviceID(rawValue: wake.phone.number), session.phones.item(of: wake), isKept: isKept))
    }

    private func owner(of phone: PhoneID) -> LabSession? { sessions.withLock { $0[phone] } }
}
