/// A run of a flow: its trigger, state and result.
package struct RunRecord: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// Waiting to start.
        case queued
        case running
        /// The script ended without an error and all expectations were met.
        case completed
        /// The script raised an error, or an expectation was not met.
        case failed
        case cancelled
        /// Not started, because the flow had reached its concurrency.
        case skipped
        /// The server ended during the run, and the run must not be repeated.
        case interrupted
    }

    /// Ascending from 1, unique in the server; 0 if not stored yet.
    package var number: Int64
    package var flow: String
    /// The path of the script.
    package var script: String
    /// First digits of the script's hash; nil until the script is loaded.
    package var version: String?
    package var origin: RunOrigin
    package var guarantee: RunGuarantee
    package var lifecycle: RunLifecycle
    package var report: RunReport

    package init(
        number: Int64 = 0, flow: String, script: String, version: String? = nil, origin: RunOrigin, guarantee: RunGuarantee,
        lifecycle: RunLifecycle, report: RunReport = RunReport()
    ) {
        self.number = number
        self.flow = flow
        self.script = script
        self.version = version
        self.origin = origin
        self.guarantee = guarantee
        self.lifecycle = lifecycle
        self.report = report
    }

    package var trigger: RunTrigger { origin.trigger }
    package var arguments: JSONObject { origin.arguments }
    /// Names of the secret arguments.
    package var withheld: [String] { origin.withheld }
    package var state: State { lifecycle.state }

    /// The public id, such as `r-42`.
    package var id: String { Self.id(number) }
    package static func id(_ number: Int64) -> String { "r-\(number)" }

    /// Parses a run id. Returns nil if it is invalid.
    package static func number(of id: String) -> Int64? {
        guard id.hasPrefix("r-"), let number = Int64(id.dropFirst(2)), number > 0, self.id(number) == id else { return nil }
        return number
    }
}

extension RunRecord.State {
    package var isFinal: Bool { self != .queued && self != .running }
}

/// The trigger that started a run, with the values that it passed to the flow.
package struct RunOrigin: Sendable, Equatable {
    package var trigger: RunTrigger
    /// Idempotency key of the trigger: a flow has one run per key.
    package var key: String?
    /// Arguments without secrets.
    package var arguments: JSONObject
    /// Names of the secret arguments, which are held in memory only.
    package var withheld: [String]
    /// Plugins and flows that caused the run, without the run's own flow.
    package var causes: [String]

    package init(
        _ trigger: RunTrigger, key: String? = nil, arguments: JSONObject = JSONObject(), withheld: [String] = [], causes: [String] = []
    ) {
        self.trigger = trigger
        self.key = key
        self.arguments = arguments
        self.withheld = withheld
        self.causes = causes
    }
}

/// The state of a run, and when it changed.
package struct RunLifecycle: Sendable, Equatable {
    package private(set) var state: RunRecord.State
    /// Number of times the run was started.
    package private(set) var attempts: Int
    package let queuedAt: Timestamp
    package private(set) var startedAt: Timestamp?
    package private(set) var endedAt: Timestamp?

    package init(
        state: RunRecord.State = .queued, attempts: Int = 0, queuedAt: Timestamp, startedAt: Timestamp? = nil, endedAt: Timestamp? = nil
    ) {
        self.state = state
        self.attempts = attempts
        self.queuedAt = queuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
    }

    /// Starts another attempt.
    package mutating func start(at time: Timestamp) {
        (state, startedAt) = (.running, time)
        attempts += 1
    }

    /// Queues the run again, to repeat an attempt that did not end.
    package mutating func requeue() { state = .queued }

    /// Takes back an attempt that the run did not fail itself.
    package mutating func withdrawAttempt() {
        state = .queued
        attempts -= 1
    }

    /// - Parameter state: a final state.
    package mutating func end(_ state: RunRecord.State, at time: Timestamp) { (self.state, endedAt) = (state, time) }
}
