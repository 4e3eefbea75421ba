import Synchronization

/// What goes wrong with connections on demand, for each service, and how many there were. Each service's requests, and the
/// connections that have brought it any, are counted from the start.
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
        /// Of services without their own.
        var plan = Plan()
        var own: [PhonePlatform: Plan] = [:]
        var counts = Counts()
        var requests: [PhonePlatform: Int] = [:]
        var connections: [PhonePlatform: Int] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// What was ordered for all services.
    var plan: Plan { state.withLock { $0.plan } }
    /// What was ordered for single ones.
    var own: [PhonePlatform: Plan] { state.withLock { $0.own } }
    var counts: Counts { state.withLock { $0.counts } }

    /// - Parameter platform: Nil for all services.
    package func change(_ platform: PhonePlatform? = nil, _ change: @Sendable (inout Plan) -> Void) {
        state.withLock { state in
            if let platform { return change(&state.own[platform, default: state.plan]) }
            change(&state.plan)
            for platform in state.own.keys { change(&state.own[platform, default: Plan()]) }
        }
    }

    /// Nothing goes wrong any more.
    func clear() { state.withLock { ($0.plan, $0.own) = (Plan(), [:]) } }

    func connect() {
        state.withLock { state in
            state.counts.connections += 1
            state.counts.open += 1
        }
    }

    func disconnect() { state.withLock { $0.counts.open -= 1 } }

    /// A connection's first request to a service: whether the connection is to break off.
    func firstRequest(to platform: PhonePlatform) -> Bool {
        state.withLock { state in
            state.connections[platform, default: 0] += 1
            let plan = state.own[platform] ?? state.plan
            return Self.isDue(state.connections[platform, default: 0], every: plan.resetConnectionsEvery)
        }
    }

    func request(to platform: PhonePlatform) -> Fate {
        state.withLock { state in
            state.counts.requests += 1
            state.requests[platform, default: 0] += 1
            let (plan, number) = (state.own[platform] ?? state.plan, state.requests[platform, default: 0])
            return Fate(
                latency: plan.latency, isStalled: Self.isDue(number, every: plan.stallEvery),
                breaksOff: Self.isDue(number, every: plan.resetEvery), goesAway: Self.isDue(number, every: plan.goAwayEvery))
        }
    }

    private static func isDue(_ number: Int, every: Int?) -> Bool { every.map { number % $0 == 0 } ?? false }
}
