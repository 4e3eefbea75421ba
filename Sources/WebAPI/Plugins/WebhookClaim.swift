import Crypto
import FoundationEssentials
import HTTPTypes
import HubWire
import PushCore

/// What the headers of a webhook say of its body: when it was signed, what it is called, and by which signatures the sender proves it.
/// Several are those of several keys, while one takes the place of another.
struct WebhookClaim: Sendable {
    /// Seconds that a clock may be behind or ahead; as Standard Webhooks, and as the most lenient of senders expect.
    static let tolerance: Int64 = 300
    /// How long messages without a time are known again: as long as GitHub lets one send them again.
    private static let memory = Duration.seconds(3 * 86_400)
    /// Bytes.
    private static let longestID = 256

    private let scheme: WebhookScheme
    /// What the sender calls the message; nil where it has no name. GitHub's is not signed: it tells repetitions of honest senders alone.
    let id: String?
    /// Seconds since 1970, and as they were written; nil where the scheme has none.
    private let time: (seconds: Int64, text: String)?
    private let signatures: [[UInt8]]

    /// Throws `webhook.signature` (401) where anything is missing or has another form.
    init(_ fields: HTTPFields, _ scheme: WebhookScheme) throws(PushError) {
        self.scheme = scheme
        switch scheme {
        case .pushhost:
            let parts = Self.value("pushhost-signature", fields)?.split(separator: ",").map(\.trimmed) ?? []
            let times = parts.filter { $0.hasPrefix("t=") }.map { String($0.dropFirst(2)) }
            guard times.count == 1, let seconds = Self.seconds(times[0]) else { throw Self.refusal }
            (id, time) = (nil, (seconds, times[0]))
            signatures = parts.filter { $0.hasPrefix("v1=") }.compactMap { Self.bytes(hexadecimal: $0.dropFirst(3)) }
        case .standard:
            guard let id = Self.id("webhook-id", fields), let text = Self.value("webhook-timestamp", fields),
                let seconds = Self.seconds(text),
                // Else it were not clear where it ends and the time begins.
                !id.utf8.contains(UInt8(ascii: "."))
            else { throw Self.refusal }
            (self.id, time) = (id, (seconds, text))
            let parts = Self.value("webhook-signature", fields)?.split(separator: " ") ?? []
            signatures = parts.filter { $0.hasPrefix("v1,") }.compactMap { Data(base64Encoded: String($0.dropFirst(3))).map(Array.init) }
        case .github:
            guard let id = Self.id("x-github-delivery", fields), let text = Self.value("x-hub-signature-256", fields),
                text.hasPrefix("sha256=")
            else { throw Self.refusal }
            (self.id, time) = (id, nil)
            signatures = Self.bytes(hexadecimal: text.dropFirst(7)).map { [$0] } ?? []
        }
        guard !signatures.isEmpty else { throw Self.refusal }
    }

    /// One for everything, so that nobody learns by trying how far they have come.
    private static let refusal = PushError(
        "webhook.signature", "the signature of the webhook is missing or wrong",
        hint: "sign the bytes of the body as they are sent, with the secret of this webhook", status: 401)

    // MARK: - Checks

    /// Throws `webhook.signature` where no signature is right, and `webhook.stale` (401) where one is, but not of now.
    func check(_ body: [UInt8], _ key: SymmetricKey, now: Timestamp) throws(PushError) {
        var code = HMAC<SHA256>(key: key)
        code.update(data: head)
        code.update(data: body)
        let right = code.finalize()
        // Each comparison takes as long for a wrong signature as for the right one.
        guard signatures.contains(where: { right == $0 }) else { throw Self.refusal }
        guard let time else { return }
        guard abs(now.seconds - time.seconds) <= Self.tolerance else {
            throw PushError(
                "webhook.stale", "the webhook was signed more than \(Self.tolerance / 60) minutes from now",
                hint: "send it again with a new signature; check the clocks of both sides", status: 401)
        }
    }

    /// What is signed before the body.
    private var head: [UInt8] {
        switch scheme {
        case .pushhost: Array("\(time?.text ?? "").".utf8)
        case .standard: Array("\(id ?? "").\(time?.text ?? "").".utf8)
        case .github: []
        }
    }

    // MARK: - Repetitions

    /// What the message is known by when it comes again, whatever key it is signed with then: its id where that is signed, else all that
    /// is signed. Short, whatever the sender writes.
    /// - Parameter route: what takes it; the same message may be meant for several.
    func name(_ body: [UInt8], at route: String) -> String {
        var hash = SHA256()
        hash.update(data: Array("\(scheme.rawValue)\n\(route)\n".utf8))
        // That of GitHub is not signed: with another one the same message would be taken again.
        if let id, scheme != .github {
            hash.update(data: Array(id.utf8))
        } else {
            hash.update(data: head)
            hash.update(data: body)
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: hash.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// When it need not be known any more: what has a time is refused then in any case.
    func end(now: Timestamp) -> Timestamp {
        guard let time else { return now + Self.memory }
        // A little later than that; what is remembered has to last a second at least.
        return Timestamp(seconds: time.seconds + Self.tolerance + 2)
    }

    // MARK: - Reading

    /// Several of one name are joined, as for any header; nothing is skipped that another program could have read.
    private static func value(_ name: String, _ fields: HTTPFields) -> String? {
        let values = fields.texts(name)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    private static func id(_ name: String, _ fields: HTTPFields) -> String? {
        guard let id = value(name, fields), id.utf8.count <= longestID else { return nil }
        return id
    }

    /// Digits alone: another way to write the same time would be another signature.
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
    /// What a secret signs with. Nil for none: whoever knows of no secret could sign with it.
    func key(_ secret: Secret) -> SymmetricKey? {
        let text = secret.reveal()
        guard self == .standard, text.hasPrefix("whsec_") else {
            return text.isEmpty ? nil : SymmetricKey(data: Array(text.utf8))
        }
        guard let data = Data(base64Encoded: String(text.dropFirst(6))), !data.isEmpty else { return nil }
        return SymmetricKey(data: data)
    }
}
