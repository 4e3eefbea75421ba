import Synchronization

/// What goes wrong with connections on demand, and how many there were. Requests and connections are counted from the start,
/// and all together.
package final class ConnectionFaults: Sendable {
    /// Nil, and a latency of 0, for what does not happen.
    package struct Plan: Sendable, Equatable {
        /// Milliseconds that every request takes longer to arrive.
        package var latency = 0
        /// Every so many requests one is taken, and its connection breaks off instead of an answer.
        package var resetEvery: Int?
        /// Every so many connections one breaks off at its first request, which is not taken.
        package var resetConnectionsEvery: Int?
        /// Every so many requests the connection of one says GOAWAY.
        package var goAwayEvery: Int?
        /// Every so many requests one is taken and never answered.
        package var stallEvery: Int?

        package init() {}
    }

    struct Counts: Sendable {
        var connections = 0
        var open = 0
        var requests = 0
    }

    /// What happens to one request.
    struct Fate {
        var latency = 0
        var isStalled = false
        var breaksOff = false
        var goesAway = false
    }

    private struct State {
        var plan = Plan()
        var counts = Counts()
    }

    private let state = Mutex(State())

    init() {}

    var plan: Plan { state.withLock { $0.plan } }
    var counts: Counts { state.withLock { $0.counts } }

    package func change(_ change: @Sendable (inout Plan) -> Void) { state.withLock { change(&$0.plan) } }

    /// Whether the new connection is to break off.
    func connect() -> Bool {
        state.withLock { state in
            state.counts.connections += 1
            state.counts.open += 1
            return Self.isDue(state.counts.connections, every: state.plan.resetConnectionsEvery)
        }
    }

    func disconnect() { state.withLock { $0.counts.open -= 1 } }

    func request() -> Fate {
        state.withLock { state in
            state.counts.requests += 1
            let (plan, number) = (state.plan, state.counts.requests)
            return Fate(
                latency: plan.latency, isStalled: Self.isDue(number, every: plan.stallEvery),
                breaksOff: Self.isDue(number, every: plan.resetEvery), goesAway: Self.isDue(number, every: plan.goAwayEvery))
        }
    }

    private static func isDue(_ number: Int, every: Int?) -> Bool { every.map { number % $0 == 0 } ?? false }
}
