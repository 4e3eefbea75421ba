/// The triggers that start a flow.
package struct FlowTriggers: Sendable, Equatable {
    /// Who may start the flow with a request; nil: requests are not accepted.
    package var access: FlowAccess?
    package var schedules: [ScheduleRule]
    package var events: Set<HubEvent.Kind>
    /// Whether the flow answers `POST /api/notifications` of the app backend.
    package var answersBackend: Bool

    package init(
        access: FlowAccess? = nil, schedules: [ScheduleRule] = [], events: Set<HubEvent.Kind> = [], answersBackend: Bool = false
    ) {
        self.access = access
        self.schedules = schedules
        self.events = events
        self.answersBackend = answersBackend
    }

    /// Whether a trigger other than a schedule can start the flow: it passes arguments that are not known before.
    package var passArguments: Bool { access != nil || !events.isEmpty || answersBackend }
}

/// The callers that may start a flow with a request.
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
