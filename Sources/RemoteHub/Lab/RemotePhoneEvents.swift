import PushModel
import Synchronization

/// The events on a session's phones that were fetched so far, and the tasks that wait for more.
final class RemotePhoneEvents: Sendable {
    private struct State {
        /// Number of entries of the lab's list, including wakes.
        var count = 0
        var events: [DeviceEvent] = []
        /// Number of events on each phone.
        var revisions: [DeviceID: Int] = [:]
        /// Pushes that wait for the app.
        var pending: [DeviceID: [InboxItem]] = [:]
        var serial = 0
        var pushWaiters: [(serial: Int, phone: DeviceID, continuation: CheckedContinuation<InboxItem, any Error>)] = []
        var changeWaiters: [Int: (phone: DeviceID, revision: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
        var failure: PushError?
    }

    private let path: String
    private let connection: any LabConnection
    private let state = Mutex(State())

    init(path: String, connection: any LabConnection) {
        self.path = path
        self.connection = connection
    }

    /// Number of entries of the lab's list that were fetched.
    var count: Int { state.withLock { $0.count } }

    func events(since index: Int) -> [DeviceEvent] { state.withLock { Array($0.events.dropFirst(index)) } }

    func revision(of phone: DeviceID) -> Int { state.withLock { $0.revisions[phone] ?? 0 } }

    /// Fetches all new events and passes them on in order.
    func catchUp() async throws(PushError) {
        let since = count
        let fields = try LabFields(answer: try await connection.call("GET", "\(path)/events?since=\(since)", nil))
        var events: [LabEvent] = []
        for json in try fields.list("events") { events.append(try LabEvent(json)) }
        for action in take(events, since: since) { action() }
    }

    /// Skips events that a concurrent fetch has already handled.
    private func take(_ events: [LabEvent], since: Int) -> [@Sendable () -> Void] {
        state.withLock { state in
            var actions: [@Sendable () -> Void] = []
            for event in events.dropFirst(max(0, state.count - since)) {
                state.count += 1
                switch event {
                case .phone(let event):
                    state.events.append(event)
                    state.revisions[event.device, default: 0] += 1
                case .wake(let phone, let item, let isStored):
                    state.revisions[phone, default: 0] += 1
                    if let index = state.pushWaiters.firstIndex(where: { $0.phone == phone }) {
                        let waiter = state.pushWaiters.remove(at: index)
                        actions.append { waiter.continuation.resume(returning: item) }
                    } else if isStored {
                        state.pending[phone, default: []].append(item)
                    }
                }
            }
            let due = state.changeWaiters.filter { (state.revisions[$0.value.phone] ?? 0) > $0.value.revision }
            for (serial, waiter) in due.sorted(by: { $0.key < $1.key }) {
                state.changeWaiters[serial] = nil
                actions.append { waiter.continuation.resume() }
            }
            return actions
        }
    }

    /// Fails all waiting tasks, because no further event will arrive.
    func fail(_ error: PushError) {
        let (pushes, changes) = state.withLock { state in
            state.failure = error
            defer { (state.pushWaiters, state.changeWaiters) = ([], [:]) }
            return (state.pushWaiters, state.changeWaiters)
        }
        for waiter in pushes { waiter.continuation.resume(throwing: error) }
        for (_, waiter) in changes.sorted(by: { $0.key < $1.key }) { waiter.continuation.resume() }
    }

    /// The next push that wakes the app, in order of arrival.
    func nextPush(on phone: DeviceID) async throws -> InboxItem {
        let serial = ticket()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let ready = state.withLock { state -> Result<InboxItem, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.pending[phone]?.isEmpty == false, let item = state.pending[phone]?.removeFirst() { return .success(item) }
                    if let failure = state.failure { return .failure(failure) }
                    state.pushWaiters.append((serial, phone, continuation))
                    return nil
                }
                if let ready { continuation.resume(with: ready) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.pushWaiters.firstIndex { $0.serial == serial }.map { state.pushWaiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Suspends until the phone has more than `revision` events, or no further event will arrive.
    func change(of phone: DeviceID, after revision: Int) async {
        let serial = ticket()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || state.failure != nil || (state.revisions[phone] ?? 0) > revision { return true }
                    state.changeWaiters[serial] = (phone, revision, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.changeWaiters.removeValue(forKey: serial) }?.continuation.resume()
        }
    }

    private func ticket() -> Int {
        state.withLock { state in
            state.serial += 1
            return state.serial
        }
    }
}
