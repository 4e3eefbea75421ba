/// The action for runs that were missed while the server was down.
package enum MissedPolicy: String, Sendable, CaseIterable {
    /// Skip missed runs.
    case skip
    /// Run once, for the last missed due time.
    case once
    /// Run for each missed due time, oldest first.
    case all
}

/// A cron schedule of a flow.
package struct ScheduleRule: Sendable, Equatable {
    /// Unique among all schedules of the server.
    package var name: String
    package var flow: String
    package var cron: CronSchedule
    package var timeZone: String
    package var missed: MissedPolicy
    /// Arguments in addition to those of the flow.
    package var arguments: JSONObject

    package init(
        name: String, flow: String, cron: CronSchedule, timeZone: String = "UTC", missed: MissedPolicy = .skip,
        arguments: JSONObject = JSONObject()
    ) {
        self.name = name
        self.flow = flow
        self.cron = cron
        self.timeZone = timeZone
        self.missed = missed
        self.arguments = arguments
    }
}

/// A schedule with its stored state.
package struct StoredSchedule: Sendable, Equatable {
    package var rule: ScheduleRule
    /// Whether the settings file defines the schedule. If so, it can only be changed there.
    package var isConfigured: Bool
    package var isPaused: Bool
    /// Due times up to this time have been handled.
    package var handledUntil: Timestamp

    package init(rule: ScheduleRule, isConfigured: Bool, isPaused: Bool = false, handledUntil: Timestamp) {
        self.rule = rule
        self.isConfigured = isConfigured
        self.isPaused = isPaused
        self.handledUntil = handledUntil
    }
}
