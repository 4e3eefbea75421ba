import HTTPTypes

/// The parsed header fields of a notification (Microsoft, "Push notification service request and response headers").
struct WNSRequest {
    let type: WNSType
    let isCached: Bool
    let asksForStatus: Bool
    let tag: String?
    let group: String?
    /// Seconds.
    let timeToLive: Int64?
    /// From 1 (high) to 4 (very low) (Microsoft, "WNS Notification Priorities").
    let priority: Int

    init(_ fields: HTTPFields, bodySize: Int) throws(WNSRefusal) {
        guard let type = fields.first("x-wns-type").flatMap({ WNSType(rawValue: $0.lowercased()) }) else {
            throw .badRequest("X-WNS-Type is missing or not one of wns/toast, wns/tile, wns/badge, wns/raw")
        }
        self.type = type
        let contentType = fields.first("content-type")?.split(separator: ";").first?.trimmedOfBlanks.lowercased()
        guard contentType == type.contentType else {
            throw .badRequest("Content-Type must be \(type.contentType) for \(type.rawValue)")
        }
        guard fields.first("transfer-encoding") == nil else { throw .badRequest("Chunked bodies are not supported") }
        guard fields.first("content-length").flatMap({ Int($0) }) == bodySize else {
            throw .badRequest("Content-Length is missing or does not match the body")
        }
        isCached = try Self.flag(
            fields, "X-WNS-Cache-Policy", on: "cache", off: "no-cache", otherwise: type.isCachedByDefault)
        asksForStatus = try Self.flag(
            fields, "X-WNS-RequestForStatus", on: "true", off: "false", otherwise: false)
        tag = try Self.label(fields, "X-WNS-Tag")
        group = try Self.label(fields, "X-WNS-Group")
        timeToLive = try fields.first("x-wns-ttl").map { text throws(WNSRefusal) in
            guard let seconds = Int64(text), (0...2_592_000).contains(seconds) else {
                throw .badRequest("X-WNS-TTL must be a number of seconds, 30 days at most")
            }
            return seconds
        }
        priority =
            try fields.first("x-wns-priority").map { text throws(WNSRefusal) in
                guard let priority = Int(text) ?? Self.priorities[text.lowercased()], (1...4).contains(priority) else {
                    throw .badRequest("X-WNS-PRIORITY must be a number from 1, high, to 4, very low")
                }
                return priority
            } ?? type.defaultPriority
        guard fields.first("x-wns-suppresspopup") == nil else {
            throw .badRequest("X-WNS-SuppressPopup is only for channels of phones")
        }
    }

    /// Names of the priorities, which some senders use instead of numbers.
    private static let priorities = ["high": 1, "medium": 2, "low": 3, "verylow": 4]

    private static func flag(
        _ fields: HTTPFields, _ name: String, on: String, off: String, otherwise: Bool
    ) throws(WNSRefusal) -> Bool {
        switch fields.first(name.lowercased())?.lowercased() {
        case nil: return otherwise
        case on: return true
        case off: return false
        default: throw .badRequest("\(name) must be \(on) or \(off)")
        }
    }

    private static func label(_ fields: HTTPFields, _ name: String) throws(WNSRefusal) -> String? {
        guard let text = fields.first(name.lowercased()) else { return nil }
        guard (1...16).contains(text.utf8.count), text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw .badRequest("\(name) must be 1 to 16 letters and digits")
        }
        return text
    }
}
