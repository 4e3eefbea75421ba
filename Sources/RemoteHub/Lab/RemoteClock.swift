package import PushModel
import Synchronization

/// The clock of a server's lab, as a run sees it. Time advances when the run has nothing left to do and asks for the next step.
package final class RemoteClock: SteppedClock {
    private struct State {
        var now: Timestamp
        var isAsking = false
        /// The number of requests started when a step changed nothing.
        var unchangedAt: Int?
        /// The number of requests started when all of the lab's work had ended.
        var settled: Int?
        var failure: PushError?
    }

    /// The run's requests in progress, including those to its hub and backend.
    package let traffic: InFlightRequests
    private let path: String
    private let connection: any LabConnection
    private let phoneEvents: RemotePhoneEvents
    let trace: RemoteTrace?
    private let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// The sleeping tasks. This clock's own time is not used.
    private let sleepingTasks: VirtualClock
    private let state: Mutex<State>

    init(
        now: Timestamp, path: String, connection: any LabConnection, traffic: InFlightRequests, phoneEvents: RemotePhoneEvents,
        trace: RemoteTrace?,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    ) {
        (self.path, self.connection, self.traffic, self.phoneEvents) = (path, connection, traffic, phoneEvents)
        (self.trace, self.start) = (trace, start)
        sleepingTasks = VirtualClock(now: now)
        state = Mutex(State(now: now))
    }

    package var now: Timestamp { state.withLock { $0.now } }

    package func sleep(until deadline: Timestamp) async throws {
        if let failure { throw failure }
        try await sleepingTasks.sleep(until: deadline)
        if let failure { throw failure }
    }

    /// The error after which the lab cannot be used any more.
    var failure: PushError? { state.withLock { $0.failure } }

    /// Performs work that waits for a response of the server. Time does not advance meanwhile.
    package func during<Answer>(_ work: () async throws(PushError) -> Answer) async throws(PushError) -> Answer {
        try await traffic.during(work)
    }

    /// Suspends until all work in progress in the lab has ended and its results are known. Time does not advance.
    package func waitUntilQuiet() async throws(PushError) {
        try await during { () async throws(PushError) in _ = try await ask(until: now) }
    }

    // MARK: - Steps

    package func step() -> ClockStep {
        if traffic.isInFlight { return .inFlight }
        let startedCount = traffic.startedCount
        let hasStarted = state.withLock { state -> Bool? in
            if state.isAsking { return true }
            guard state.failure == nil, state.unchangedAt != startedCount else {
                state.unchangedAt = nil
                return nil
            }
            (state.isAsking, state.settled) = (true, nil)
            return false
        }
        guard let hasStarted else { return .over }
        if !hasStarted { _ = start { [self] in await take(until: sleepingTasks.nextDeadline) } }
        return .inFlight
    }

    package func settle() -> ClockStep {
        if traffic.isInFlight { return .inFlight }
        let startedCount = traffic.startedCount
        let hasStarted = state.withLock { state -> Bool? in
            if state.isAsking { return true }
            guard state.failure == nil, state.settled != startedCount else { return nil }
            state.isAsking = true
            return false
        }
        guard let hasStarted else { return .over }
        if !hasStarted {
            _ = start { [self] in
                await take(until: now)
                state.withLock { ($0.settled, $0.unchangedAt) = ($0.unchangedAt, nil) }
            }
        }
        return .inFlight
    }

    private func take(until time: Timestamp?) async {
        let startedCount = traffic.startedCount
        var madeNoProgress = false
        var failure: PushError?
        do throws(PushError) {
            madeNoProgress = !(try await ask(until: time))
        } catch {
            failure = error
        }
        state.withLock { state in
            (state.isAsking, state.unchangedAt) = (false, madeNoProgress ? startedCount : nil)
            state.failure = state.failure ?? failure
        }
        if let failure {
            phoneEvents.fail(failure)
            sleepingTasks.advance(to: .distantFuture)
        }
    }

    /// Sends one step request. Returns whether time has advanced or there are new events.
    private func ask(until time: Timestamp?) async throws(PushError) -> Bool {
        let seen = phoneEvents.count
        let body = JSON.lab(["until": time.map { .timestamp($0) }, "events": .count(seen)])
        let fields = try LabFields(answer: try await connection.call("POST", "\(path)/clock", body))
        let now = Timestamp(milliseconds: Int64(try fields.integer("now")))
        let (before, events) = (self.now, try fields.integer("events"))
        // Events must be known before any sleeping task wakes.
        if events > seen { try await phoneEvents.catchUp() }
        await trace?.catchUp()
        state.withLock { $0.now = max($0.now, now) }
        sleepingTasks.advance(to: now)
        return now > before || events > seen
    }
}
