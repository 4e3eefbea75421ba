import Crypto
import FoundationEssentials
import HTTPTypes
import HubWire
import PushModel

/// Reads and verifies the signature in a webhook's headers: the time of signing, the message id and the codes. There are several codes
/// while keys are rotated.
struct WebhookSignature: Sendable {
    /// Maximum clock difference in seconds, as in Standard Webhooks and the most lenient senders.
    static let tolerance: Int64 = 300
    /// How long messages without a time are remembered: as long as GitHub permits redelivery.
    private static let memory = Duration.seconds(3 * 86_400)
    /// Maximum length of an id in bytes.
    private static let longestID = 256

    private let scheme: WebhookScheme
    /// The sender's id of the message; nil if it has none. GitHub's id is not signed: it only detects repetitions by honest senders.
    let id: String?
    /// Seconds since 1970, and the text as sent; nil if the scheme has no time.
    private let time: (seconds: Int64, text: String)?
    private let codes: [[UInt8]]

    /// Throws `webhook.signature` (401) if a field is missing or malformed.
    init(_ fields: HTTPFields, _ scheme: WebhookScheme) throws(PushError) {
        self.scheme = scheme
        switch scheme {
        case .pushhost:
            let parts = Self.value("pushhost-signature", fields)?.split(separator: ",").map(\.trimmed) ?? []
            let times = parts.filter { $0.hasPrefix("t=") }.map { String($0.dropFirst(2)) }
            guard times.count == 1, let seconds = Self.seconds(times[0]) else { throw Self.refusal }
            (id, time) = (nil, (seconds, times[0]))
            codes = parts.filter { $0.hasPrefix("v1=") }.compactMap { Self.bytes(hexadecimal: $0.dropFirst(3)) }
        case .standard:
            guard let id = Self.id("webhook-id", fields), let text = Self.value("webhook-timestamp", fields),
                let seconds = Self.seconds(text),
                // A dot would make the boundary between id and time ambiguous.
                !id.utf8.contains(UInt8(ascii: "."))
            else { throw Self.refusal }
            (self.id, time) = (id, (seconds, text))
            let parts = Self.value("webhook-signature", fields)?.split(separator: " ") ?? []
            codes = parts.filter { $0.hasPrefix("v1,") }.compactMap { Data(base64Encoded: String($0.dropFirst(3))).map(Array.init) }
        case .github:
            guard let id = Self.id("x-github-delivery", fields), let text = Self.value("x-hub-signature-256", fields),
                text.hasPrefix("sha256=")
            else { throw Self.refusal }
            (self.id, time) = (id, nil)
            codes = Self.bytes(hexadecimal: text.dropFirst(7)).map { [$0] } ?? []
        }
        guard !codes.isEmpty else { throw Self.refusal }
    }

    /// A single error for every reason, so that attackers do not learn how far they have come.
    private static let refusal = PushError(
        "webhook.signature", "the signature of the webhook is missing or wrong",
        hint: "sign the bytes of the body, exactly as sent, with the secret of this webhook", status: 401)

    // MARK: - Checks

    /// Throws `webhook.signature` if no signature is valid, `webhook.stale` (401) if one is valid but too old or too new.
    func check(_ body: [UInt8], _ key: SymmetricKey, now: Timestamp) throws(PushError) {
        var code = HMAC<SHA256>(key: key)
        code.update(data: head)
        code.update(data: body)
        let right = code.finalize()
        // The comparison takes constant time.
        guard codes.contains(where: { right == $0 }) else { throw Self.refusal }
        guard let time else { return }
        guard abs(now.seconds - time.seconds) <= Self.tolerance else {
            throw PushError(
                "webhook.stale", "the signing time of the webhook differs from now by more than \(Self.tolerance / 60) minutes",
                hint: "send it again with a new signature; check the clocks of both sides", status: 401)
        }
    }

    /// The signed text before the body.
    private var head: [UInt8] {
        switch scheme {
        case .pushhost: Array("\(time?.text ?? "").".utf8)
        case .standard: Array("\(id ?? "").\(time?.text ?? "").".utf8)
        case .github: []
        }
    }

    // MARK: - Repetitions

    /// The name under which the message is remembered, whichever key signed it: a hash of its id if that is signed, otherwise of everything
    /// signed.
    /// - Parameter route: The receiving route. The same message may be sent to several routes.
    func name(_ body: [UInt8], at route: String) -> String {
        var hash = SHA256()
        hash.update(data: Array("\(scheme.rawValue)\n\(route)\n".utf8))
        // GitHub's id is not signed: with a different id the same message would be accepted again.
        if let id, scheme != .github {
            hash.update(data: Array(id.utf8))
        } else {
            hash.update(data: head)
            hash.update(data: body)
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: hash.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// When the message may be forgotten: from then on its time is rejected as stale.
    func end(now: Timestamp) -> Timestamp {
        guard let time else { return now + Self.memory }
        // Two seconds more, because a stored value must live at least one second.
        return Timestamp(seconds: time.seconds + Self.tolerance + 2)
    }

    // MARK: - Reading

    /// The header's values, joined if there are several, so that no value is ignored that another program might use.
    private static func value(_ name: String, _ fields: HTTPFields) -> String? {
        let values = fields.texts(name)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    private static func id(_ name: String, _ fields: HTTPFields) -> String? {
        guard let id = value(name, fields), id.utf8.count <= longestID else { return nil }
        return id
    }

    /// Accepts digits only: another spelling of the same time would be a different signed text.
    private static func seconds(_ text: String) -> Int64? {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    private static func bytes(hexadecimal text: Substring) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue.map { UInt8($0) } }
        guard digits.count == text.utf8.count, digits.count == 2 * SHA256.byteCount else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension WebhookScheme {
    /// The signing key of a secret; nil for an empty one, with which anyone could sign.
    func key(_ secret: Secret) -> SymmetricKey? {
        let text = secret.reveal()
        guard self == .standard, text.hasPrefix("whsec_") else {
            return text.isEmpty ? nil : SymmetricKey(data: Array(text.utf8))
        }
        guard let data = Data(base64Encoded: String(text.dropFirst(6))), !data.isEmpty else { return nil }
        return SymmetricKey(data: data)
    }
}
