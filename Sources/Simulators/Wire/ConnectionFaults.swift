import Synchronization

/// Injects connection faults by service, and counts connections and requests. The requests of each service, and the connections that it had
/// requests on, are counted from the start.
package final class ConnectionFaults: Sendable {
    /// The faults to inject; `nil`, or a latency of 0, for none.
    package struct Plan: Sendable, Equatable {
        /// Delay of every request, in milliseconds.
        package var latency = 0
        /// Every n-th request is processed, and its connection reset instead of a response.
        package var resetEvery: Int?
        /// Every n-th connection is reset at its first request, which is not processed.
        package var resetConnectionsEvery: Int?
        /// Every n-th request makes its connection send GOAWAY.
        package var goAwayEvery: Int?
        /// Every n-th request is processed and never answered.
        package var stallEvery: Int?

        package init() {}
    }

    struct Counts: Sendable {
        var connections = 0
        var open = 0
        var requests = 0
    }

    /// The faults of one request.
    struct RequestFaults {
        var latency = 0
        var isStalled = false
        var resetsConnection = false
        var goesAway = false
    }

    private struct State {
        /// For services without their own plan.
        var plan = Plan()
        var own: [PhonePlatform: Plan] = [:]
        var counts = Counts()
        var requests: [PhonePlatform: Int] = [:]
        var connections: [PhonePlatform: Int] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// The plan for services without their own.
    var plan: Plan { state.withLock { $0.plan } }
    /// The plans of single services.
    var own: [PhonePlatform: Plan] { state.withLock { $0.own } }
    var counts: Counts { state.withLock { $0.counts } }

    /// - Parameter platform: `nil` for all services.
    package func change(_ platform: PhonePlatform? = nil, _ change: @Sendable (inout Plan) -> Void) {
        state.withLock { state in
            if let platform { return change(&state.own[platform, default: state.plan]) }
            change(&state.plan)
            for platform in state.own.keys { change(&state.own[platform, default: Plan()]) }
        }
    }

    /// Removes all faults.
    func clear() { state.withLock { ($0.plan, $0.own) = (Plan(), [:]) } }

    func connect() {
        state.withLock { state in
            state.counts.connections += 1
            state.counts.open += 1
        }
    }

    func disconnect() { state.withLock { $0.counts.open -= 1 } }

    /// Counts a connection at its first request to a service; returns whether to reset it.
    func firstRequest(to platform: PhonePlatform) -> Bool {
        state.withLock { state in
            state.connections[platform, default: 0] += 1
            let plan = state.own[platform] ?? state.plan
            return Self.isDue(state.connections[platform, default: 0], every: plan.resetConnectionsEvery)
        }
    }

    func request(to platform: PhonePlatform) -> RequestFaults {
        state.withLock { state in
            state.counts.requests += 1
            state.requests[platform, default: 0] += 1
            let (plan, number) = (state.own[platform] ?? state.plan, state.requests[platform, default: 0])
            return RequestFaults(
                latency: plan.latency, isStalled: Self.isDue(number, every: plan.stallEvery),
                resetsConnection: Self.isDue(number, every: plan.resetEvery), goesAway: Self.isDue(number, every: plan.goAwayEvery))
        }
    }

    private static func isDue(_ number: Int, every: Int?) -> Bool { every.map { number % $0 == 0 } ?? false }
}
