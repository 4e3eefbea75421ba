import HubWire
import PushModel

/// A parsed path of the hub's interface. Fixed words are case-insensitive and trailing slashes are ignored. A hub's name may contain
/// slashes, so a path is parsed from its end.
enum HubPath: Equatable {
    /// `/`, and `/$Resources/NotificationHubs`.
    case hubs
    /// `/feedback/{hub}`.
    case feedback(String)
    case hub(String)
    case inHub(String, Place)

    enum Place: Equatable {
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

    /// Several slashes count as one, because clients concatenate addresses.
    /// - Parameter path: The encoded path, without the query. The result is nil for a segment `.` or `..` and for control characters.
    init?(_ path: String) {
        guard let texts = Self.parts(path) else { return nil }
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
        guard let (place, count) = Self.place(texts, words) else {
            self = .hub(texts.joined(separator: "/"))
            return
        }
        guard texts.count > count else { return nil }
        self = .inHub(texts.dropLast(count).joined(separator: "/"), place)
    }

    /// The decoded segments of a path; nil if it is invalid.
    static func parts(_ path: String) -> [String]? {
        let texts = path.split(separator: "/").map { PercentEncoding.decode($0) }
        let isPlain = texts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains { $0 < 0x20 || $0 == 0x7f } }
        return isPlain ? texts : nil
    }

    /// Returns the place and the number of segments that it uses at the end of the path.
    private static func place(_ texts: [String], _ words: [String]) -> (Place, Int)? {
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
