import Crypto
import HTTPTypes
import PushCore

/// The request that one batch makes to a push service (RFC 8030, section 5); endpoint, authorization and ciphertext
/// differ from browser to browser.
struct WebPushRequest: Sendable {
    private let fields: HTTPFields
    /// Whether the sender gave some of the headers.
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

    /// What all requests to one push service have in common.
    ///
    /// - Parameter size: of every ciphertext, in bytes: they are all as long as one another.
    func headers(to origin: PushOrigin, authorization: Secret, size: Int) -> HeaderTemplate {
        var all = fields.map { PushHeader($0.name.rawName, $0.value) }
        all.append(PushHeader(HTTPField.Name.contentLength.rawName, String(size)))
        return HeaderTemplate(origin: origin, authorization: authorization, fields: all)
    }

    /// Seconds, and the header is mandatory (section 5.2): four weeks where the sender names none, as FCM has it. Nobody
    /// keeps a message for longer than 30 days; 0 is "now or never".
    private static func timeToLive(_ expiration: Timestamp?, now: Timestamp) -> Int64 {
        guard let expiration else { return 28 * 86_400 }
        return max(0, min((expiration - now).milliseconds / 1000, 30 * 86_400))
    }

    /// Section 5.3.
    private static func urgency(_ wanted: PushOptions.Priority) -> String {
        switch wanted {
        case .high: "high"
        case .normal: "normal"
        case .low: "low"
        }
    }

    /// A topic has at most 32 characters of base64url (section 5.4). Any other collapse id becomes one by its hash: the
    /// same id is always the same topic.
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
