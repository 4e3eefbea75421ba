/// A flow of a server: a script, what starts it, and how its runs get on with each other.
package struct ServedFlow: Sendable, Equatable {
    package var name: String
    /// The path of the script.
    package var script: String
    /// The hub that it works with; nil: the one that what started it is about, or the server's own.
    package var hub: String?
    /// What it is given beside what its trigger gives; that of the trigger goes before.
    package var arguments: JSONObject
    /// Who may start it with a request; nil: nobody.
    package var access: FlowAccess?
    package var schedules: [ScheduleRule]
    package var events: Set<HubEvent.Kind>
    /// It answers `POST /api/notifications` of the app backend.
    package var answersBackend: Bool
    /// Runs of it at a time.
    package var concurrency: Int
    /// What becomes of a trigger while there are so many; nil: what fits the trigger.
    package var overlap: OverlapPolicy?
    package var guarantee: RunGuarantee
    /// How long a run may take; nil: as long as it does.
    package var timeout: Duration?
    /// Devices that one send of it may reach without somebody's leave; nil: as many as the server lets anybody reach.
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

    /// Letters, digits, `-` and `_`, beginning with a letter or a digit, at most 60.
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
    /// Anybody: only by the explicit word.
    case open
    /// A user of the app backend.
    case account
    /// The holder of a key with that right.
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

/// What becomes of a trigger while as many runs are under way as may be.
package enum OverlapPolicy: String, Sendable, CaseIterable {
    /// It starts nothing; that it came is recorded.
    case skip
    /// It waits until there is room.
    case queue
    /// The run that began first is cancelled for it.
    case replace
}

/// What a crash of the server may do to a run.
package enum RunGuarantee: String, Sendable, CaseIterable {
    /// A run that had begun is not begun again.
    case atMostOnce = "at-most-once"
    /// A run that had not ended is begun again.
    case atLeastOnce = "at-least-once"
}

/// What a schedule makes of moments that came while no server could hear them.
package enum MissedPolicy: String, Sendable, CaseIterable {
    /// They are passed over.
    case skip
    /// However many there were, the flow runs once for the last of them.
    case once
    /// The flow runs for each of them, the first one first.
    case all
}

/// When a flow is started by the clock.
package struct ScheduleRule: Sendable, Equatable {
    /// Among all schedules of the server.
    package var name: String
    package var flow: String
    package var cron: CronSchedule
    package var timeZone: String
    package var missed: MissedPolicy
    /// Beside those of the flow.
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

/// A schedule with what is remembered of it.
package struct KeptSchedule: Sendable, Equatable {
    package var rule: ScheduleRule
    /// It stands in the file of settings, and is changed there.
    package var isConfigured: Bool
    package var isPaused: Bool
    /// Up to when its moments are dealt with.
    package var heard: Timestamp

    package init(rule: ScheduleRule, isConfigured: Bool, isPaused: Bool = false, heard: Timestamp) {
        self.rule = rule
        self.isConfigured = isConfigured
        self.isPaused = isPaused
        self.heard = heard
    }
}
