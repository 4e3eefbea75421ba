/// A configured flow of a server: its script, its triggers, and how its runs overlap.
package struct ServedFlow: Sendable, Equatable {
    package var name: String
    /// Path of the script.
    package var script: String
    /// The hub that the flow works with; nil: the hub of the trigger, or the server's default hub.
    package var hub: String?
    /// Configured arguments. Arguments of the trigger override them.
    package var arguments: JSONObject
    /// Who may start the flow with a request; nil: requests are not accepted.
    package var access: FlowAccess?
    package var schedules: [ScheduleRule]
    package var events: Set<HubEvent.Kind>
    /// Whether the flow answers `POST /api/notifications` of the app backend.
    package var answersBackend: Bool
    /// Maximum number of concurrent runs.
    package var concurrency: Int
    /// What to do with a trigger when `concurrency` is reached; nil: the default of the trigger.
    package var overlap: OverlapPolicy?
    package var guarantee: RunGuarantee
    /// Maximum duration of a run; nil: unlimited.
    package var timeout: Duration?
    /// Maximum number of devices per send without approval; nil: only the server's ceiling applies.
    package var ceiling: Int?

    package init(
        name: String, script: String, hub: String? = nil, arguments: JSONObject = JSONObject(), access: FlowAccess? = nil,
        schedules: [ScheduleRule] = [],
        events: Set<HubEvent.Kind> = [], answersBackend: Bool = false, concurrency: Int = 1, overlap: OverlapPolicy? = nil,
        guarantee: RunGuarantee = .atMostOnce, timeout: Duration? = nil, ceiling: Int? = nil
    ) {
        self.name = name
        self.script = script
        self.hub = hub
        self.arguments = arguments
        self.access = access
        self.schedules = schedules
        self.events = events
        self.answersBackend = answersBackend
        self.concurrency = concurrency
        self.overlap = overlap
        self.guarantee = guarantee
        self.timeout = timeout
        self.ceiling = ceiling
    }

    /// Whether a name is valid: 1 to 60 letters, digits, `-` and `_`, starting with a letter or digit.
    package static func isName(_ text: String) -> Bool {
        guard (1...60).contains(text.utf8.count), let first = text.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "_") else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}

/// Who may start a flow with a request.
package enum FlowAccess: Sendable, Equatable {
    /// Everyone, without authentication. Never a default; the settings must name it.
    case open
    /// Users of the app backend.
    case account
    /// Holders of a key with this right.
    case key(SASRight)

    package var word: String {
        switch self {
        case .open: "open"
        case .account: "account"
        case .key(let right): right.rawValue
        }
    }

    package init?(word: String) {
        switch word {
        case "open": self = .open
        case "account": self = .account
        default:
            guard let right = SASRight(rawValue: word) else { return nil }
            self = .key(right)
        }
    }

    package static let words = ["send", "listen", "manage", "account", "open"]
}

/// What to do with a trigger when the flow's concurrency is reached.
package enum OverlapPolicy: String, Sendable, CaseIterable {
    /// Do not run; record the run as skipped.
    case skip
    /// Queue the run.
    case queue
    /// Cancel the oldest run and start the new one.
    case replace
}

/// How often a run may be started if the server crashes.
package enum RunGuarantee: String, Sendable, CaseIterable {
    /// A run that had started is not repeated.
    case atMostOnce = "at-most-once"
    /// A run that had not ended is repeated.
    case atLeastOnce = "at-least-once"
}

/// What to do about runs missed while the server was down.
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
    package var heard: Timestamp

    package init(rule: ScheduleRule, isConfigured: Bool, isPaused: Bool = false, heard: Timestamp) {
        self.rule = rule
        self.isConfigured = isConfigured
        self.isPaused = isPaused
        self.heard = heard
    }
}
