/// The report of a run so far.
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
