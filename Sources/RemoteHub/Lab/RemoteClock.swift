import PushCore
import Synchronization

/// The time of a server's lab, as a run knows it: it goes on when the run has nothing left to do and asks for the next step.
package final class RemoteClock: SteppedClock {
    private struct State {
        var now: Timestamp
        var isAsking = false
        /// How much had been asked for when nothing moved and nothing was new.
        var barren: Int?
        /// How much had been asked for when all of it had ended.
        var settled: Int?
        var failure: PushError?
    }

    /// Requests of the run that are under way, those to its hub and backend among them.
    package let traffic: RunTraffic
    private let path: String
    private let connection: any LabConnection
    private let news: PhoneNews
    let trace: RemoteTrace?
    private let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// Who sleeps; its own time is of no account.
    private let sleepers: VirtualClock
    private let state: Mutex<State>

    init(
        now: Timestamp, path: String, connection: any LabConnection, traffic: RunTraffic, news: PhoneNews, trace: RemoteTrace?,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    ) {
        (self.path, self.connection, self.traffic, self.news) = (path, connection, traffic, news)
        (self.trace, self.start) = (trace, start)
        sleepers = VirtualClock(now: now)
        state = Mutex(State(now: now))
    }

    package var now: Timestamp { state.withLock { $0.now } }

    package func sleep(until deadline: Timestamp) async throws {
        if let failure { throw failure }
        try await sleepers.sleep(until: deadline)
        if let failure { throw failure }
    }

    /// Why the lab cannot be asked any more.
    var failure: PushError? { state.withLock { $0.failure } }

    /// Does work that waits for an answer of the server: time does not go on meanwhile.
    package func during<Answer>(_ work: () async throws(PushError) -> Answer) async throws(PushError) -> Answer {
        try await traffic.during(work)
    }

    /// Suspends until everything has ended that is under way in the lab; what comes of it is known then. No time goes by.
    package func waitUntilQuiet() async throws(PushError) {
        try await during { () async throws(PushError) in _ = try await ask(until: now) }
    }

    // MARK: - Steps

    package func step() -> ClockStep {
        if traffic.isUnderWay { return .underWay }
        let begun = traffic.begun
        let hasBegun = state.withLock { state -> Bool? in
            if state.isAsking { return true }
            guard state.failure == nil, state.barren != begun else {
                state.barren = nil
                return nil
            }
            (state.isAsking, state.settled) = (true, nil)
            return false
        }
        guard let hasBegun else { return .over }
        if !hasBegun { _ = start { [self] in await take(until: sleepers.nextDeadline) } }
        return .underWay
    }

    package func settle() -> ClockStep {
        if traffic.isUnderWay { return .underWay }
        let begun = traffic.begun
        let hasBegun = state.withLock { state -> Bool? in
            if state.isAsking { return true }
            guard state.failure == nil, state.settled != begun else { return nil }
            state.isAsking = true
            return false
        }
        guard let hasBegun else { return .over }
        if !hasBegun {
            _ = start { [self] in
                await take(until: now)
                state.withLock { ($0.settled, $0.barren) = ($0.barren, nil) }
            }
        }
        return .underWay
    }

    private func take(until moment: Timestamp?) async {
        let begun = traffic.begun
        var isBarren = false
        var failure: PushError?
        do throws(PushError) {
            isBarren = !(try await ask(until: moment))
        } catch {
            failure = error
        }
        state.withLock { state in
            (state.isAsking, state.barren) = (false, isBarren ? begun : nil)
            state.failure = state.failure ?? failure
        }
        if let failure {
            news.fail(failure)
            sleepers.advance(to: .distantFuture)
        }
    }

    /// One request; answers whether something has moved or is new.
    private func ask(until moment: Timestamp?) async throws(PushError) -> Bool {
        let seen = news.count
        let body = JSON.lab(["until": moment.map { .moment($0) }, "events": .count(seen)])
        let fields = try LabFields(answer: try await connection.call("POST", "\(path)/clock", body))
        let now = Timestamp(milliseconds: Int64(try fields.integer("now")))
        let (before, events) = (self.now, try fields.integer("events"))
        // What has happened is known before anybody wakes.
        if events > seen { try await news.catchUp() }
        await trace?.catchUp()
        state.withLock { $0.now = max($0.now, now) }
        sleepers.advance(to: now)
        return now > before || events > seen
    }
}
