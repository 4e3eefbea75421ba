import HTTPTypes

/// The header fields of a message, once each of them is good (RFC 8030 section 5).
struct WebPushRequest {
    /// What the service keeps a message for at most: 30 days, in seconds.
    static let longestLife: Int64 = 30 * 86_400
    private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]

    /// Seconds, shortened to what the service offers.
    let timeToLive: Int64
    let topic: String?
    /// `high`: what a browser takes even when its battery is low.
    let isUrgent: Bool

    init(_ fields: HTTPFields, bodySize: Int) throws(WebPushRefusal) {
        guard let text = try Self.single("TTL", in: fields, errno: 112) else { throw .badHeader(111, "Missing TTL value") }
        guard let seconds = Int64(text), seconds >= 0, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .badHeader(112, "Invalid TTL header value")
        }
        timeToLive = min(seconds, Self.longestLife)
        topic = try Self.single("Topic", in: fields, errno: 113)
        if let topic, !(1...32).contains(topic.utf8.count) || !topic.utf8.allSatisfy(Base64URL.isDigit) {
            throw .badHeader(113, "Topic must be at most 32 characters of the URL and filename safe base64 alphabet")
        }
        let urgency = try Self.single("Urgency", in: fields, errno: 111) ?? "normal"
        guard Self.urgencies.contains(urgency) else { throw .badHeader(111, "Urgency must be very-low, low, normal or high") }
        isUrgent = urgency == "high"
        guard bodySize > 0 else { return }
        guard fields.first("content-encoding")?.lowercased() == "aes128gcm" else {
            throw .badHeader(110, "Missing or unknown Content-Encoding header")
        }
    }

    private static func single(_ name: String, in fields: HTTPFields, errno: Int) throws(WebPushRefusal) -> String? {
        let values = fields.all(name.lowercased())
        guard values.count <= 1 else { throw .badHeader(errno, "\(name) is given more than once") }
        return values.first
    }
}
