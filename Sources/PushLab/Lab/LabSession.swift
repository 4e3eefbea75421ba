package import PushModel
package import RemoteHub
package import Simulators
import Synchronization

/// A client's session in a lab: its own phones, their events, and the faults that it has requested.
package final class LabSession: Sendable {
    package let id: String
    /// The hub's name as the server spells it.
    package let hub: String
    package let run: String
    package let phones: SimulatedLab
    /// Number of recorded exchanges before the session began.
    package let firstExchange: Int
    /// Number of trace entries before the session began.
    package let firstEntry: Int
    private let state: Mutex<State>
    private let waiters = CountWaiters()

    private struct State {
        var lastRequestTime: Timestamp
        var requests = 0
        /// Resumed when the last of those requests has been answered.
        var ending: CheckedContinuation<Void, Never>?
        /// The latest events. `forgotten` counts the older ones that were dropped.
        var events: [LabEvent] = []
        var forgotten = 0
        var eventBytes = 0
        var eventCount: Int { forgotten + events.count }
        /// All handles that the session's phones have had, in order.
        var handles: [DeviceHandle] = []
        var known: Set<DeviceHandle> = []
        var isOver = false

        mutating func append(_ event: LabEvent) {
            events.append(event)
            eventBytes += event.storedBytes
            guard eventBytes > LabSession.eventLimit else { return }
            // Drops a quarter at a time.
            var count = 0
            while eventBytes > LabSession.eventLimit / 4 * 3, count < events.count {
                eventBytes -= events[count].storedBytes
                count += 1
            }
            events.removeFirst(count)
            forgotten += count
        }
    }

    /// - Parameter now: the system's time.
    init(id: String, hub: String, run: String, phones: SimulatedLab, firstExchange: Int, firstEntry: Int, now: Timestamp) {
        (self.id, self.hub, self.run, self.phones) = (id, hub, run, phones)
        (self.firstExchange, self.firstEntry) = (firstExchange, firstEntry)
        state = Mutex(State(lastRequestTime: now))
    }

    // MARK: - Requests

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Counts a request as open until ``requestEnded(now:)``. Returns false if the session is over; the request must then do nothing.
    package func requestBegan() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.requests += 1
            return true
        }
    }

    package func requestEnded(now: Timestamp) {
        let ending = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.requests -= 1
            state.lastRequestTime = now
            guard state.requests == 0 else { return nil }
            defer { state.ending = nil }
            return state.ending
        }
        ending?.resume()
    }

    // MARK: - Events

    package var eventCount: Int { state.withLock { $0.eventCount } }

    /// Maximum size of the stored events in bytes. Beyond it the oldest are dropped.
    static let eventLimit = 64 << 20

    /// Events after the first `count`, and the number of all events so far.
    package func events(after count: Int) -> (events: [LabEvent], count: Int) {
        state.withLock { (Array($0.events.dropFirst(max(0, count - $0.forgotten))), $0.eventCount) }
    }

    func note(_ event: LabEvent) {
        let count = state.withLock { state in
            state.append(event)
            return state.eventCount
        }
        waiters.advance(to: count)
    }

    /// Suspends until there are more than `count` events or the session is over.
    package func more(than count: Int) async { await waiters.wait(beyond: count) }

    // MARK: - Handles

    /// Adds a handle. Returns false if the session has it already.
    package func note(_ handle: DeviceHandle) -> Bool {
        state.withLock { state in
            guard state.known.insert(handle).inserted else { return false }
            state.handles.append(handle)
            return true
        }
    }

    var handles: [DeviceHandle] { state.withLock { $0.handles } }

    // MARK: - Ending

    /// Rejects further requests and waits until the open ones have been answered; after that nothing more is created. Returns false at once
    /// if the session was over already, or if its client sent a request after `limit`.
    func end(silentSince limit: Timestamp? = nil) async -> Bool {
        let isFirst = state.withLock { state in
            if let limit, state.requests > 0 || state.lastRequestTime > limit { return false }
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return false }
        waiters.end()
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
    /// Approximate size in bytes.
    fileprivate var storedBytes: Int {
        switch self {
        case .phone(let event): 200 + event.text.utf8.count
        case .wake(_, let item, _):
            400 + item.payload.count + item.alert.title.utf8.count + item.alert.body.utf8.count
                + item.display.text.utf8.count
        }
    }
}

/// Maps phones of the lab to their sessions. Phones that were created for a handle that was pushed to belong to none.
package final class PhoneOwners: Sendable {
    private let sessions = Mutex<[PhoneID: LabSession]>([:])

    package func give(_ phone: PhoneID, to session: LabSession) { sessions.withLock { $0[phone] = session } }

    func forget(_ phones: [PhoneID]) {
        sessions.withLock { sessions in
            for phone in phones { sessions[phone] = nil }
        }
    }

    @Sendable func note(_ event: PhoneEvent) { owner(of: event.phone)?.note(.phone(DeviceEvent(event))) }

    @Sendable func note(_ wake: AppDelivery) {
        guard let session = owner(of: wake.phone) else { return }
        let isStored = session.phones.phones.description(of: wake.phone)?.app.handlesPushes ?? false
        session.note(.wake(DeviceID(rawValue: wake.phone.number), session.phones.item(of: wake), isStored: isStored))
    }

    private func owner(of phone: PhoneID) -> LabSession? { sessions.withLock { $0[phone] } }
}
