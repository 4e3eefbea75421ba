/// What a push says of a live activity (Apple, "Starting and updating Live Activities with ActivityKit push notifications").
struct LiveActivityChange: Sendable, Equatable {
    enum Event: String, Sendable {
        case start, update, end
    }

    struct Fault: Error {
        var reason: String
    }

    var event: Event
    /// Seconds since 1970; the system ignores what is older than what it shows.
    var timestamp: Int64
    /// The content state as JSON text; empty where an end has none.
    var state: String

    /// Why the system would ignore it, where it does.
    static func read(_ aps: JSONValue) -> Result<LiveActivityChange, Fault> {
        guard let timestamp = aps["timestamp"]?.integer else { return .failure(Fault(reason: "aps has no timestamp in seconds")) }
        guard let event = aps["event"]?.string.flatMap(Event.init(rawValue:)) else {
            return .failure(Fault(reason: "the event is none of start, update and end"))
        }
        let state = aps["content-state"]
        guard event == .end || state?.members != nil else { return .failure(Fault(reason: "aps has no content-state")) }
        if event == .start {
            guard aps["attributes-type"]?.string != nil, aps["attributes"]?.members != nil, aps["alert"] != nil else {
                return .failure(Fault(reason: "a start needs attributes-type, attributes and an alert"))
            }
        }
        return .success(LiveActivityChange(event: event, timestamp: timestamp, state: state?.text ?? ""))
    }
}

/// The one live activity of a phone's app.
struct LiveActivity: Sendable {
    private var timestamp: Int64?
    private var hasEnded = false

    /// Where it stands on the screen: each state takes the place of the one before.
    static let place = "live activity"

    /// Takes a change; why not, where it is ignored. An update of one that nobody started is for one that the app has started
    /// itself.
    mutating func apply(_ change: LiveActivityChange) -> String? {
        if let timestamp, change.timestamp < timestamp { return "older than what the live activity shows" }
        if hasEnded, change.event != .start { return "the live activity has ended" }
        timestamp = change.timestamp
        hasEnded = change.event == .end
        return nil
    }
}
