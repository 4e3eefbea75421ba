import HTTPTypes

/// The parsed header fields of a message (RFC 8030 section 5).
struct WebPushRequest {
    /// The longest time that the service stores a message: 30 days, in seconds.
    static let longestLife: Int64 = 30 * 86_400
    private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]

    /// Seconds, reduced to the service's maximum.
    let timeToLive: Int64
    let topic: String?
    /// Whether the urgency is `high`, which browsers receive even on low battery.
    let isUrgent: Bool

    /// Checks in the order of autopush, with its error numbers: 111 for a missing or malformed TTL, 114 for a negative one.
    init(_ fields: HTTPFields, bodySize: Int) throws(WebPushRefusal) {
        guard let text = try Self.single("TTL", in: fields, errno: 111) else { throw .badHeader(111, "Missing TTL value") }
        guard let seconds = Self.seconds(text) else {
            throw .badHeader(111, "The TTL \"\(text.prefix(32))\" is not a number of seconds")
        }
        if bodySize > 0 {
            // Content codings are case-insensitive (RFC 9110 section 8.4.1).
            guard let coding = fields.first("content-encoding") else { throw .badHeader(110, "Missing Content-Encoding header") }
            guard coding.lowercased() == "aes128gcm" else { throw .badHeader(110, "Unknown Content-Encoding header") }
        }
        guard seconds >= 0 else { throw .badHeader(114, "TTL must be greater than 0") }
        timeToLive = min(seconds, Self.longestLife)
        topic = try Self.single("Topic", in: fields, errno: 113)
        if let topic, !(1...32).contains(topic.utf8.count) || !topic.utf8.allSatisfy(Base64URL.isDigit) {
            throw .badHeader(113, "Topic must be at most 32 characters of the URL and filename safe base64 alphabet")
        }
        // Literals of the grammar in RFC 8030 section 5.3 are case-insensitive (RFC 5234 section 2.3).
        let urgency = try Self.single("Urgency", in: fields, errno: 111)?.lowercased() ?? "normal"
        guard Self.urgencies.contains(urgency) else { throw .badHeader(111, "Urgency must be very-low, low, normal or high") }
        isUrgent = urgency == "high"
    }

    /// Digits, optionally after a minus sign; `nil` for other text, and for a number of more than 64 bits.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    private static func single(_ name: String, in fields: HTTPFields, errno: Int) throws(WebPushRefusal) -> String? {
        let values = fields.all(name.lowercased())
        guard values.count <= 1 else { throw .badHeader(errno, "\(name) is given more than once") }
        return values.first
    }
}
