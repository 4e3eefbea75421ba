import HTTPTypes

/// A parsed path of the hub's interface. Fixed words are case-insensitive and trailing slashes are ignored. A hub's name may contain
/// slashes, so a path is parsed from its end.
enum HubPath: Equatable {
    /// `/`, and `/$Resources/NotificationHubs`.
    case hubs
    /// `/feedback/{hub}`.
    case feedback(String)
    case hub(String)
    case inHub(String, Resource)

    enum Resource: Equatable {
        case registrationIDs
        case registrations
        case registration(String)
        case taggedRegistrations(String)
        case installation(String)
        case messages
        case batch
        case message(String)
        case schedule
        case scheduled(String)
        case feedback
        case jobs
        case job(String)
    }

    /// - Parameter path: The encoded path, without the query. The result is nil for a segment `.` or `..` and for control characters.
    init?(_ path: String) {
        guard let texts = PathSegments.decoded(path) else { return nil }
        let words = texts.map { $0.lowercased() }
        guard !words.isEmpty else {
            self = .hubs
            return
        }
        if words == ["$resources", "notificationhubs"] {
            self = .hubs
            return
        }
        if words[0] == "feedback", words.count > 1 {
            self = .feedback(texts.dropFirst().joined(separator: "/"))
            return
        }
        guard let (resource, count) = Self.resource(texts, words) else {
            self = .hub(texts.joined(separator: "/"))
            return
        }
        guard texts.count > count else { return nil }
        self = .inHub(texts.dropLast(count).joined(separator: "/"), resource)
    }

    /// Returns the place and the number of segments that it uses at the end of the path.
    private static func resource(_ texts: [String], _ words: [String]) -> (Resource, Int)? {
        let last = texts[texts.count - 1]
        let before = words.dropLast().last
        // A tag may be named like another route.
        if words.last == "registrations", words.count > 3, words[words.count - 3] == "tags" {
            return (.taggedRegistrations(texts[texts.count - 2]), 3)
        }
        if before == "registrations" { return (.registration(last), 2) }
        if before == "installations" { return (.installation(last), 2) }
        if before == "messages" { return words.last == "$batch" ? (.batch, 2) : (.message(last), 2) }
        if before == "$batch", words.dropLast(2).last == "messages" { return (.message(last), 3) }
        if before == "schedulednotifications" { return (.scheduled(last), 2) }
        if before == "jobs" { return (.job(last), 2) }
        switch words.last {
        case "registrations": return (.registrations, 1)
        case "registrationids": return (.registrationIDs, 1)
        case "messages": return (.messages, 1)
        case "schedulednotifications": return (.schedule, 1)
        case "feedbackcontainer": return (.feedback, 1)
        case "jobs": return (.jobs, 1)
        default: return nil
        }
    }
}

extension HubPath {
    /// The name of the route in metrics.
    var route: String {
        switch self {
        case .hubs: "hubs"
        case .hub: "hub"
        case .feedback: "feedback"
        case .inHub(_, let resource):
            switch resource {
            case .registrationIDs: "registrationids"
            case .registrations: "registrations"
            case .registration: "registration"
            case .taggedRegistrations: "registrations_by_tag"
            case .installation: "installation"
            case .messages: "messages"
            case .batch: "batch"
            case .message: "telemetry"
            case .schedule: "schedulednotifications"
            case .scheduled: "schedulednotification"
            case .feedback: "feedbackcontainer"
            case .jobs: "jobs"
            case .job: "job"
            }
        }
    }
}

extension HubPath.Resource {
    /// The allowed methods.
    var methods: String {
        switch self {
        case .registrationIDs, .messages, .batch, .schedule: "POST"
        case .registrations, .jobs: "GET, POST"
        case .registration: "GET, PUT, DELETE"
        case .installation: "GET, PUT, PATCH, DELETE"
        case .taggedRegistrations, .message, .feedback, .job: "GET"
        case .scheduled: "DELETE"
        }
    }
}

extension HubPath {
    /// Whether a request is frequent and takes little work: one device, or a notification that is only accepted.
    func isQuick(_ request: WebRequest) -> Bool {
        guard case .inHub(_, let resource) = self else { return false }
        switch resource {
        case .registrationIDs, .registration, .message, .scheduled: return true
        case .registrations: return request.method == .post
        case .installation: return request.method != .patch
        case .messages, .batch, .schedule: return !request.query.has("test") && !MessageHeaders(request.fields).isTest
        case .taggedRegistrations, .feedback, .jobs, .job: return false
        }
    }
}
