/// A parsed path of the app backend: `/api/register`, `/{hub}/api/register`, and both with `/tutorials/{variant}` before `/api`. Fixed
/// words are case-insensitive and trailing slashes are ignored. A hub's name may contain slashes, so a path is parsed from its end.
struct BackendPath: Equatable, Sendable {
    enum Resource: Equatable, Sendable {
        case register
        case registration(String)
        case notifications
        case notification(String)
        case reads(String)
        case login
        case logout
    }

    /// Nil for the server's default hub.
    let hub: String?
    /// Nil for the server's default variant.
    let variant: TutorialVariant?
    let resource: Resource

    /// - Parameter path: The encoded path, without the query. The result is nil for any other path.
    init?(_ path: String) {
        // Most requests are for hubs. A quick check avoids parsing their paths twice.
        guard Self.mentionsAPI(path), let texts = PathSegments.decoded(path), let (resource, count) = Self.resource(texts) else {
            return nil
        }
        self.resource = resource
        var rest = texts.dropLast(count)
        if rest.count >= 2, rest[rest.endIndex - 2].lowercased() == "tutorials",
            let variant = TutorialVariant(rawValue: rest[rest.endIndex - 1].lowercased())
        {
            self.variant = variant
            rest = rest.dropLast(2)
        } else {
            variant = nil
        }
        guard let first = rest.first?.lowercased() else {
            hub = nil
            return
        }
        // Paths of other interfaces.
        guard first != "api", first != "feedback", !first.hasPrefix("$") else { return nil }
        hub = rest.joined(separator: "/")
    }

    private static func mentionsAPI(_ path: String) -> Bool {
        var last: UInt32 = 0
        for byte in path.utf8 {
            last = (last << 8 | UInt32(byte | 0x20)) & 0xff_ffff
            if last == 0x61_7069 { return true }
        }
        return false
    }

    /// Returns the place and the number of segments that it uses at the end of the path.
    private static func resource(_ texts: [String]) -> (Resource, Int)? {
        let words = texts.map { $0.lowercased() }
        func ends(_ end: String...) -> Bool { words.suffix(end.count).elementsEqual(end) }
        func ends(_ before: [String], and count: Int) -> Bool { words.dropLast(count).suffix(before.count).elementsEqual(before) }
        if ends("api", "register") { return (.register, 2) }
        if ends("api", "notifications") { return (.notifications, 2) }
        if ends("api", "login") { return (.login, 2) }
        if ends("api", "logout") { return (.logout, 2) }
        if ends(["api", "register"], and: 1) { return (.registration(texts[texts.count - 1]), 3) }
        if ends(["api", "notifications"], and: 1) { return (.notification(texts[texts.count - 1]), 3) }
        if words.last == "reads", ends(["api", "notifications"], and: 2) { return (.reads(texts[texts.count - 2]), 4) }
        return nil
    }

    /// The name of the route in metrics.
    var route: String {
        switch resource {
        case .register: "backend_register"
        case .registration: "backend_registration"
        case .notifications: "backend_notifications"
        case .notification: "backend_notification"
        case .reads: "backend_reads"
        case .login: "backend_login"
        case .logout: "backend_logout"
        }
    }

    /// The allowed methods.
    var methods: String {
        switch resource {
        case .register, .login, .logout: "POST"
        case .notifications: "GET, POST"
        case .registration: "PUT, DELETE"
        case .notification: "GET, DELETE"
        case .reads: "GET"
        }
    }
}
