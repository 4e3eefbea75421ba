/// The live activity content of a push (Apple, "Starting and updating Live Activities with ActivityKit push notifications").
struct LiveActivityChange: Sendable, Equatable {
    enum Event: String, Sendable {
        case start, update, end
    }

    struct Fault: Error {
        var reason: String
    }

    var event: Event
    /// Seconds since 1970; the system ignores updates older than the one it shows.
    var timestamp: Int64
    /// The content state as JSON text; empty for an end without one.
    var state: String

    /// Parses the content, or returns why the system would ignore it.
    static func read(_ aps: JSONValue) -> Result<LiveActivityChange, Fault> {
        guard let timestamp = aps["timestamp"]?.integer else { return .failure(Fault(reason: "aps has no timestamp in seconds")) }
        guard let event = aps["event"]?.string.flatMap(Event.init(rawValue:)) else {
            return .failure(Fault(reason: "the event is not start, update or end"))
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

/// The live activity of a phone's app; at most one.
struct LiveActivity: Sendable {
    private var timestamp: Int64?
    private var hasEnded = false

    /// The replacement key: each state replaces the previous one on the screen.
    static let place = "live activity"

    /// Applies a change; returns why it is ignored, or `nil`. An update without a start belongs to an activity that the app itself started.
    mutating func apply(_ change: LiveActivityChange) -> String? {
        if let timestamp, change.timestamp < timestamp { return "older than what the live activity shows" }
        if hasEnded, change.event != .start { return "the live activity has ended" }
        timestamp = change.timestamp
        hasEnded = change.event == .end
        return nil
    }
}
