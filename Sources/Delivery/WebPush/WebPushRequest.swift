import Crypto
import HTTPTypes
import PushModel

/// The Web Push request of one batch (RFC 8030, section 5); endpoint, authorization and ciphertext differ from browser to browser.
struct WebPushRequest: Sendable {
    private let fields: HTTPFields
    /// Whether the sender set any of the headers.
    let hasOwnHeaders: Bool

    init(_ batch: DeliveryBatch, now: Timestamp) {
        var fields = HTTPFields()
        fields[.ttl] = String(Self.timeToLive(batch.options.expiration, now: now))
        fields[.urgency] = batch.options.priority.map(Self.urgency)
        fields[.topic] = batch.options.collapseID.map(Self.topic)
        let names = [HTTPField.Name.ttl, .urgency, .topic]
        hasOwnHeaders = batch.headers.contains { header in names.contains { $0.canonicalName == header.name.lowercased() } }
        for header in batch.headers {
            guard let name = names.first(where: { $0.canonicalName == header.name.lowercased() }),
                let value = header.sendableValue
            else { continue }
            fields[name] = value
        }
        fields[.contentEncoding] = EncryptedContent.name
        fields[.contentType] = DeclarativePush.isMeant(batch.body) ? DeclarativePush.contentType : "application/octet-stream"
        self.fields = fields
    }

    /// The headers that all requests to one push service share.
    ///
    /// - Parameter size: The size of every ciphertext, in bytes; all are equally long.
    func headers(to origin: PushOrigin, authorization: Secret, size: Int) -> HeaderTemplate {
        var all = fields.map { PushHeader($0.name.rawName, $0.value) }
        all.append(PushHeader(HTTPField.Name.contentLength.rawName, String(size)))
        return HeaderTemplate(origin: origin, authorization: authorization, fields: all)
    }

    /// The mandatory TTL, in seconds (section 5.2). The default is four weeks, as with FCM. No service stores a message for longer than 30
    /// days; 0 means "deliver now or never".
    private static func timeToLive(_ expiration: Timestamp?, now: Timestamp) -> Int64 {
        guard let expiration else { return 28 * 86_400 }
        return max(0, min((expiration - now).milliseconds / 1000, 30 * 86_400))
    }

    /// The value of `Urgency` (section 5.3).
    private static func urgency(_ wanted: PushOptions.Priority) -> String {
        switch wanted {
        case .high: "high"
        case .normal: "normal"
        case .low: "low"
        }
    }

    /// The value of `Topic`: at most 32 characters of base64url (section 5.4). Any other collapse id is replaced by its hash, so that the
    /// same id always gives the same topic.
    private static func topic(_ collapseID: String) -> String {
        let isTopic = (1...32).contains(collapseID.utf8.count) && collapseID.utf8.allSatisfy(Base64URL.isInAlphabet)
        return isTopic ? collapseID : Base64URL.encode(SHA256.hash(data: Array(collapseID.utf8)).prefix(24))
    }
}

extension HTTPField.Name {
    static let ttl = fixed("TTL")
    static let urgency = fixed("Urgency")
    static let topic = fixed("Topic")
}
