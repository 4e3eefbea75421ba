import PushModel
import Synchronization

/// The events of a simulation in order: results for senders, pushes to devices, and writes to the store.
final class EventHistory: Sendable {
    struct Send {
        /// The position among all events.
        let event: Int
        let notification: String
        let handle: DeviceHandle
        /// The verdict returned to the hub; nil if its process had crashed before.
        var verdict: Verdict?
    }

    struct Keep {
        let event: Int
        let sequence: Int64
        let devices: [DeviceOutcome]
        let isFinal: Bool
    }

    struct Life {
        var registration: Registration
        let began: Int
        /// When its deletion was requested.
        var deleted: Int?
    }

    struct Contents {
        var events = 0
        var sends: [Send] = []
        var keeps: [Keep] = []
        /// When each acknowledged notification was requested, by id.
        var accepted: [String: Int] = [:]
        /// When each cancellation was acknowledged, by id.
        var cancelled: [String: Int] = [:]
        var lives: [RegistrationID: Life] = [:]
        var crashes = 0
        /// Number of restorations of pruned devices.
        var restorations = 0
        var trips = 0
        /// Number of devices that hooks deferred and skipped.
        var held = 0
        var skipped = 0
        /// The ends that hooks received.
        var ends: [NotificationOutcome] = []

        mutating func next() -> Int {
            events += 1
            return events
        }
    }

    private let state = Mutex(Contents())

    var contents: Contents { state.withLock { $0 } }

    /// Records the start of a request.
    func ask() -> Int { state.withLock { $0.next() } }

    func accepted(_ id: String, testedNames event: Int) { state.withLock { $0.accepted[id] = event } }

    func cancelled(_ id: String) { state.withLock { $0.cancelled[id] = $0.next() } }

    func restored() { state.withLock { $0.restorations += 1 } }

    func crashed() { state.withLock { $0.crashes += 1 } }

    func tripped() { state.withLock { $0.trips += 1 } }

    func ruled(_ rulings: [(decision: DeliveryRuling.Decision, devices: Int)]) {
        state.withLock { state in
            for ruling in rulings {
                if case .skip = ruling.decision { state.skipped += ruling.devices } else { state.held += ruling.devices }
            }
        }
    }

    func told(_ end: NotificationOutcome) { state.withLock { $0.ends.append(end) } }

    func registered(_ registration: Registration) {
        state.withLock { $0.lives[registration.id] = Life(registration: registration, began: $0.next()) }
    }

    func deletes(_ id: RegistrationID) {
        state.withLock { state in
            let event = state.next()
            if state.lives[id]?.deleted == nil { state.lives[id]?.deleted = event }
        }
    }

    func stored(_ progress: NotificationProgress) {
        state.withLock { state in
            state.keeps.append(
                Keep(
                    event: state.next(), sequence: progress.sequence, devices: Array(progress.devices),
                    isFinal: progress.outcome.state.isFinal))
        }
    }

    /// Records the sends and returns the number of the first.
    func sent(_ batch: DeliveryBatch) -> Int {
        state.withLock { state in
            let event = state.next()
            let first = state.sends.count
            state.sends += batch.handles.map { Send(event: event, notification: batch.notificationID, handle: $0) }
            return first
        }
    }

    func answered(_ verdicts: [Verdict], from first: Int) {
        state.withLock { state in
            for (row, verdict) in verdicts.enumerated() { state.sends[first + row].verdict = verdict }
        }
    }
}
