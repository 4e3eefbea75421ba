/// The trigger that started a run.
package enum RunTrigger: Sendable, Equatable {
    /// A request to `/flows/NAME`.
    case http(by: String)
    /// A request of an app backend user.
    case backend(user: String)
    /// A due time of a schedule.
    case schedule(name: String, dueTime: Timestamp)
    /// An event in a hub.
    case event(HubEvent.Kind, hub: String)
    /// A command or a call of the management interface.
    case command(by: String)
    /// A rerun of another run.
    case rerun(of: String, by: String)

    package enum Kind: String, Sendable, CaseIterable { case http, backend, schedule, event, command, rerun }

    package var kind: Kind {
        switch self {
        case .http: .http
        case .backend: .backend
        case .schedule: .schedule
        case .event: .event
        case .command: .command
        case .rerun: .rerun
        }
    }

    /// Default overlap policy if the flow sets none. A schedule skips a run, because the next one comes soon. Requests and events happen
    /// once and are queued.
    package var overlap: OverlapPolicy { kind == .schedule ? .skip : .queue }

    /// Whether the trigger supplies arguments that the script need not declare.
    package var suppliesUndeclaredArguments: Bool { kind == .event || kind == .backend }

    /// The principal that requested the run; nil for schedules, events and app backend users.
    package var principal: Principal? {
        switch self {
        case .http(let actor), .command(let actor), .rerun(_, let actor): Principal(actor)
        case .backend, .schedule, .event: nil
        }
    }

    /// Description for people, such as `schedule morning at 2026-01-05T09:00:00Z`.
    package var words: String {
        switch self {
        case .http(let actor): "request of \(actor)"
        case .backend(let user): "request of the user \(user)"
        case .schedule(let name, let dueTime): "schedule \(name) at \(dueTime.iso8601(fraction: false))"
        case .event(let kind, let hub): "\(kind.rawValue) in \(hub)"
        case .command(let actor): "started by \(actor)"
        case .rerun(let id, let actor): "rerun of \(id) by \(actor)"
        }
    }

    package var json: JSON {
        let kind: (String, JSON) = ("kind", .string(self.kind.rawValue))
        let facts: [(String, JSON)] =
            switch self {
            case .http(let actor), .command(let actor): [("by", .string(actor))]
            case .backend(let user): [("user", .string(user))]
            case .schedule(let name, let dueTime):
                [("schedule", .string(name)), ("moment", .string(dueTime.iso8601(fraction: false)))]
            case .event(let kind, let hub): [("event", .string(kind.rawValue)), ("hub", .string(hub))]
            case .rerun(let id, let actor): [("run", .string(id)), ("by", .string(actor))]
            }
        return .object(JSONObject([kind] + facts))
    }

    /// Parses a trigger. Returns nil if the JSON is invalid.
    package init?(json: JSON) {
        func text(_ name: String) -> String? { json[name]?.string }
        guard let kind = text("kind").flatMap(Kind.init(rawValue:)) else { return nil }
        switch kind {
        case .http:
            guard let actor = text("by") else { return nil }
            self = .http(by: actor)
        case .command:
            guard let actor = text("by") else { return nil }
            self = .command(by: actor)
        case .backend:
            guard let user = text("user") else { return nil }
            self = .backend(user: user)
        case .schedule:
            guard let name = text("schedule"), let dueTime = text("moment").flatMap({ Timestamp(iso8601: $0) }) else { return nil }
            self = .schedule(name: name, dueTime: dueTime)
        case .event:
            guard let event = text("event").flatMap(HubEvent.Kind.init(rawValue:)), let hub = text("hub") else { return nil }
            self = .event(event, hub: hub)
        case .rerun:
            guard let id = text("run"), let actor = text("by") else { return nil }
            self = .rerun(of: id, by: actor)
        }
    }
}
