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
    package var trigger: RunTrigger
    /// Idempotency key of the trigger: a flow has one run per key.
    package var key: String?
    /// Arguments without secrets.
    package var arguments: JSONObject
    /// Names of the secret arguments, which are held in memory only.
    package var withheld: [String]
    package var guarantee: RunGuarantee
    package var state: State
    /// Number of times the run was started.
    package var attempts: Int
    package var queuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?
    package var report: RunReport
    /// Plugins and flows that caused the run, without the run's own flow.
    package var origin: [String]

    package init(
        number: Int64 = 0, flow: String, script: String, version: String? = nil, trigger: RunTrigger, key: String? = nil,
        arguments: JSONObject = JSONObject(), withheld: [String] = [], guarantee: RunGuarantee, state: State = .queued, attempts: Int = 0,
        queuedAt: Timestamp, startedAt: Timestamp? = nil, endedAt: Timestamp? = nil, report: RunReport = RunReport(), origin: [String] = []
    ) {
        self.number = number
        self.flow = flow
        self.script = script
        self.version = version
        self.trigger = trigger
        self.key = key
        self.arguments = arguments
        self.withheld = withheld
        self.guarantee = guarantee
        self.state = state
        self.attempts = attempts
        self.queuedAt = queuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.report = report
        self.origin = origin
    }

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

/// What a run has reported so far.
package struct RunReport: Sendable, Equatable {
    package struct Step: Sendable, Equatable {
        package var name: String
        package var depth: Int
        package var status: String
        package var began: Timestamp
        package var ended: Timestamp
        /// Reason for skipping the step.
        package var reason: String?
        /// Ids of the notifications that the step sent.
        package var notifications: [String]

        package init(
            name: String, depth: Int, status: String, began: Timestamp, ended: Timestamp, reason: String? = nil,
            notifications: [String] = []
        ) {
            self.name = name
            self.depth = depth
            self.status = status
            self.began = began
            self.ended = ended
            self.reason = reason
            self.notifications = notifications
        }
    }

    package struct Line: Sendable, Equatable {
        package var time: Timestamp
        package var level: String
        package var text: String

        package init(time: Timestamp, level: String, text: String) {
            self.time = time
            self.level = level
            self.text = text
        }
    }

    package struct Failure: Sendable, Equatable {
        package var code: String
        package var message: String
        package var hint: String?
        /// Script position, such as `scripts/greet.lua:12`.
        package var location: String?

        package init(code: String, message: String, hint: String? = nil, location: String? = nil) {
            self.code = code
            self.message = message
            self.hint = hint
            self.location = location
        }

        package init(_ error: PushError) { self.init(code: error.code, message: error.message, hint: error.hint) }
    }

    /// Finished steps, in the order in which they ended.
    package var steps: [Step] = []
    package var log: [Line] = []
    /// Number of lines and steps dropped because a limit was reached.
    package var omitted = 0
    /// Ids of all notifications that the run sent.
    package var notifications: [String] = []
    /// The script's return value; nil before the end, or if it returned nothing.
    package var result: JSON?
    package var failure: Failure?

    package init() {}

    private static let steps = 500
    private static let notifications = 1000
    /// Maximum size of the log in bytes.
    private static let logSize = 256 << 10

    package mutating func add(_ step: Step) {
        for id in step.notifications { note(id) }
        guard steps.count < Self.steps else { return omitted += 1 }
        steps.append(step)
        steps[steps.count - 1].notifications = Array(step.notifications.prefix(Self.notifications))
    }

    package mutating func add(_ line: Line) {
        guard line.text.utf8.count <= Self.logSize / 2 else { return omitted += 1 }
        log.append(line)
        logBytes += line.text.utf8.count
        if logBytes <= Self.logSize / 2 { head = log.count }
        // Keep the first lines, which show the context, and the last, which show the failure. Drop those between.
        while logBytes > Self.logSize {
            logBytes -= log.remove(at: head).text.utf8.count
            omitted += 1
        }
    }

    /// Adds a notification id. Returns false if it is already listed or the limit is reached.
    @discardableResult
    package mutating func note(_ notification: String) -> Bool {
        guard notifications.count < Self.notifications, !notifications.contains(notification) else { return false }
        notifications.append(notification)
        return true
    }

    private var logBytes = 0
    /// Number of lines at the start that are never dropped.
    private var head = 0

    package static func == (left: RunReport, right: RunReport) -> Bool {
        left.steps == right.steps && left.log == right.log && left.omitted == right.omitted && left.notifications == right.notifications
            && left.result == right.result && left.failure == right.failure
    }
}
