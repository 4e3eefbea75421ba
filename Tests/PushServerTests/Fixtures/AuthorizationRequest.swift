/// One block of `AuthorizationRequests`.
struct AuthorizationRequest {
    /// A request that creates an object, and the placeholder that its id replaces.
    struct Making {
        let name: String
        let credential: String
        let method: String
        let path: String
        let body: String
    }

    private(set) var path: String?
    /// Nil for a request without a body.
    private(set) var body: String?
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var makes: [Making] = []
    /// Whether `{hub}` is a new name.
    private(set) var isForNewHub = false
    /// Whether the allowed requests are sent after those of the other rows.
    private(set) var isLast = false

    /// All blocks by their first lines.
    static func all() -> [String: AuthorizationRequest] {
        var blocks: [String: AuthorizationRequest] = [:]
        var name = ""
        for line in AuthorizationRequests.text.split(separator: "\n") {
            if line.hasPrefix(" ") {
                blocks[name]?.read(line.drop { $0 == " " })
            } else {
                name = String(line)
                blocks[name] = AuthorizationRequest()
            }
        }
        return blocks
    }

    private mutating func read(_ line: Substring) {
        let word = line.prefix { $0 != " " }
        let rest = String(line.dropFirst(word.count + 1))
        switch word {
        case "path": path = rest
        case "body": body = rest
        case "header":
            let parts = rest.split(separator: ": ", maxSplits: 1).map(String.init)
            headers.append((parts[0], parts[1]))
        case "make":
            let parts = rest.split(separator: " ", maxSplits: 4).map(String.init)
            makes.append(
                Making(name: parts[0], credential: parts[1], method: parts[2], path: parts[3], body: parts.count > 4 ? parts[4] : ""))
        case "new": isForNewHub = true
        default: isLast = true
        }
    }
}
