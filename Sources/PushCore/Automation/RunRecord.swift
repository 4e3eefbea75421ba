/// A run of a flow in a server: why it began, what came of it.
package struct RunRecord: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// It waits for its turn.
        case queued
        case running
        /// Its script came to its end, and all that it expected was so.
        case completed
        /// Its script raised an error, or an expectation was not met.
        case failed
        case cancelled
        /// Another run was under way, and its flow runs one at a time.
        case skipped
        /// The server ended while it was under way, and it may not be begun twice.
        case interrupted
    }

    /// Counts up in the server, from 1; 0 of one that is not kept yet.
    package var number: Int64
    package var flow: String
    /// The path of the script.
    package var script: String
    /// The first digits of the script's hash; nil before it was read.
    package var version: String?
    package var trigger: RunTrigger
    /// The trigger's own name for it: of two runs of a flow with the same one there is the first.
    package var key: String?
    /// What it was given, without what is secret.
    package var arguments: JSONObject
    /// The names of what is secret among its arguments: they are in memory alone.
    package var withheld: [String]
    package var guarantee: RunGuarantee
    package var state: State
    /// How often it was begun.
    package var attempts: Int
    package var queuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?
    package var report: RunReport
    /// On whose behalf it runs beside its own: what its trigger came from.
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

    /// `r-42`
    package var id: String { Self.id(number) }
    package static func id(_ number: Int64) -> String { "r-\(number)" }

    /// Nil for a text that is no id of a run.
    package static func number(of id: String) -> Int64? {
        guard id.hasPrefix("r-"), let number = Int64(id.dropFirst(2)), number > 0, self.id(number) == id else { return nil }
        return number
    }
}

extension RunRecord.State {
    package var isFinal: Bool { self != .queued && self != .running }
}

/// What a run has told of itself.
package struct RunReport: Sendable, Equatable {
    package struct Step: Sendable, Equatable {
        package var name: String
        package var depth: Int
        package var status: String
        package var began: Timestamp
        package var ended: Timestamp
        /// Why it was skipped.
        package var reason: String?
        /// The ids of what it sent.
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
        /// `scripts/greet.lua:12`
        package var location: String?

        package init(code: String, message: String, hint: String? = nil, location: String? = nil) {
            self.code = code
            self.message = message
            self.hint = hint
            self.location = location
        }

        package init(_ error: PushError) { self.init(code: error.code, message: error.message, hint: error.hint) }
    }

    /// In the order in which they ended.
    package var steps: [Step] = []
    package var log: [Line] = []
    /// Lines and steps that were left out because there were too many.
    package var omitted = 0
    /// The ids of everything that it sent.
    package var notifications: [String] = []
    /// What the script returned; nil for nothing, and before the end.
    package var result: JSON?
    package var failure: Failure?

    package init() {}

    private static let steps = 500
    private static let notifications = 1000
    /// Characters of the log, in bytes.
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
        // The first lines say what it was about, the last ones why it failed: what is between them goes.
        while logBytes > Self.logSize {
            logBytes -= log.remove(at: head).text.utf8.count
            omitted += 1
        }
    }

    /// Adds the id of a notification; false where it is there already, or there are too many.
    @discardableResult
    package mutating func note(_ notification: String) -> Bool {
        guard notifications.count < Self.notifications, !notifications.contains(notification) else { return false }
        notifications.append(notification)
        return true
    }

    private var logBytes = 0
    /// Lines that stay.
    private var head = 0

    package static func == (left: RunReport, right: RunReport) -> Bool {
        left.steps == right.steps && left.log == right.log && left.omitted == right.omitted && left.notifications == right.notifications
            && left.result == right.result && left.failure == right.failure
    }
}
