import HTTPTypes
import HubWire
import PushCore

/// What the headers of a send say.
struct MessageHeaders {
    private let fields: HTTPFields

    init(_ fields: HTTPFields) { self.fields = fields }

    private static let prefix = "servicebusnotification-"

    /// Nil for templates. Throws `notification.format` (400).
    func platform() throws(PushError) -> Platform? {
        let names = "apple, gcm, fcmV1, windows, windowsphone, adm, baidu, browser, xiaomi or template"
        guard let text = try only("format", "notification.format")?.nonEmpty else {
            throw PushError(
                "notification.format", "the request has no header ServiceBusNotification-Format", hint: "say \(names)", status: 400)
        }
        let name = text.lowercased()
        if name == "template" { return nil }
        if name == "fcm" { return .fcmV1 }
        guard let platform = Platform.allCases.first(where: { $0.format.lowercased() == name }) else {
            throw PushError(
                "notification.format", "\"\(text)\" is no format of a notification", hint: "say \(names)", status: 400)
        }
        return platform
    }

    /// Of two, one would be dropped without a word.
    private func only(_ name: String, _ code: String) throws(PushError) -> String? {
        let texts = fields.texts(Self.prefix + name)
        guard texts.count > 1 else { return texts.first }
        throw PushError(
            code, "the request has \(texts.count) headers \(Self.prefix)\(name)", hint: "send one", status: 400)
    }

    /// Everyone where there is no header with tags. Tags that cannot be read are an error and never everyone.
    /// Throws `tag_expression.invalid`, `tag_expression.too_long` and `tags.empty` (400).
    ///
    /// - Parameter emptyTags: what a header without a tag in it stands for.
    func audience(_ emptyTags: ClientPolicy.EmptyTags) throws(PushError) -> Audience {
        let name = Self.prefix + "tags"
        let texts = fields.texts(name)
        guard let text = texts.first else {
            guard emptyTags == .refuse, fields.contains(where: { $0.name.canonicalName == name }) else { return .everyone }
            throw Self.emptyTags
        }
        guard texts.count == 1 else {
            throw PushError(
                "tag_expression.invalid", "the request has \(texts.count) headers ServiceBusNotification-Tags",
                hint: "write one expression", status: 400)
        }
        // Other blanks than those of HTTP, such as a no-break space, were never everyone.
        if emptyTags == .refuse, text.allSatisfy(\.isWhitespace) { throw Self.emptyTags }
        do {
            let expression = try TagExpression(parsing: text)
            try expression.checkLength()
            return .expression(expression)
        } catch let error as TagExpressionError {
            throw PushError(error)
        } catch let error as PushError {
            throw error
        } catch {
            throw PushError("tag_expression.invalid", "the tag expression cannot be read", status: 400)
        }
    }

    private static let emptyTags = PushError(
        "tags.empty", "ServiceBusNotification-Tags is empty; nothing was sent",
        hint: "name tags, or leave the header out to send to everyone; hub.empty_tags: everyone accepts an empty header", status: 400)

    /// The header alone makes a direct send, so that a request that lost its `direct` is no broadcast. The same holds for a
    /// channel of APNs: it goes there and to no device.
    func isDirect(_ platform: Platform?) -> Bool {
        fields.contains { $0.name.canonicalName == Self.prefix + "devicehandle" } || platform == .apns && channel != nil
    }

    private var channel: String? { fields.text("apns-channel-id") ?? fields.text("x-apns-channel-id") }

    /// Throws `handle.invalid` (400), also where there is none.
    func device(_ platform: Platform) throws(PushError) -> DeviceHandle {
        let text = try only("devicehandle", "handle.invalid") ?? ""
        if platform == .apns, text.isEmpty, let channel {
            guard let handle = DeviceHandle.apns(channel: channel) else {
                throw PushError(
                    "handle.invalid", "apns-channel-id is not the id of a channel", hint: "use the id that its creation answered",
                    status: 400)
            }
            return handle
        }
        if platform == .browser, let p256dh = fields.text("p256dh"), let auth = fields.text("auth") {
            return try DeviceHandle(endpoint: text, p256dh: p256dh, auth: auth)
        }
        return try DeviceHandle(platform: platform, text: text)
    }

    /// Nil where there is no such header. Throws `notification.schedule` (400).
    func scheduleTime() throws(PushError) -> Timestamp? {
        guard let text = try only("scheduletime", "notification.schedule") else { return nil }
        guard let moment = Timestamp(date: text) else {
            throw PushError(
                "notification.schedule", "\"\(text)\" is no moment", hint: "write it in UTC, such as 2026-01-31T12:00:00Z",
                status: 400)
        }
        return moment
    }

    var isTest: Bool { fields.text(Self.prefix + "testsend")?.lowercased() == "true" }

    /// When APNs shall give up. Clients send it in forms that differ and always, so that what cannot be read is no error.
    var expiration: Timestamp? {
        for name in ["apns-expiry", "apnsexpiry"] {
            if let moment = fields.text(Self.prefix + name).flatMap({ Timestamp(date: $0) }) { return moment }
        }
        return nil
    }

    /// How the push service shall treat it, whatever the format. Azure has no such headers; clients that know them mean what they say.
    func options(_ platform: Platform?) -> PushOptions {
        let own = fields.text(Self.prefix + "expiration").flatMap { Timestamp(date: $0) }
        return PushOptions(
            expiration: own ?? (platform == nil || platform == .apns ? expiration : nil),
            priority: fields.text(Self.prefix + "urgency").flatMap { PushOptions.Priority(rawValue: $0.lowercased()) },
            collapseID: fields.text(Self.prefix + "collapseid")?.nonEmpty)
    }

    /// How fast the notification goes out at most: a header of this program, as Azure has none. Throws `send.pace` (400).
    func pace() throws(PushError) -> Pace? {
        try only("pace", "send.pace")?.nonEmpty.map { text throws(PushError) in try Pace(text) }
    }

    /// The headers that the platform itself knows, in their order. `X-Apns-Priority` is `apns-priority` where that is not there.
    func passedOn(to platform: Platform) -> [PushHeader] {
        var headers: [PushHeader] = []
        for field in fields {
            let name = field.name.canonicalName
            guard let value = field.printable, !value.isEmpty else { continue }
            switch platform {
            case .apns where name.hasPrefix("apns-"): headers.append(PushHeader(name, value))
            case .apns where name.hasPrefix("x-apns-"):
                let own = String(name.dropFirst(2))
                if fields.text(own)?.nonEmpty == nil { headers.append(PushHeader(own, value)) }
            case .wns where name.hasPrefix("x-wns-"), .baidu where name.hasPrefix("x-baidu-"):
                headers.append(PushHeader(field.name.rawName, value))
            case .mpns where name.hasPrefix("x-") && !Self.isOfTransport(name):
                headers.append(PushHeader(field.name.rawName, value))
            default: continue
            }
        }
        return headers
    }

    /// What clients of Azure and proxies add to any request.
    private static func isOfTransport(_ name: String) -> Bool {
        ["x-ms-", "x-forwarded-", "x-real-", "x-request-", "x-apns-", "x-wns-"].contains { name.hasPrefix($0) }
    }
}

extension TagExpression {
    /// Azure's limits: 20 tags where they are joined by `||` alone, 6 otherwise. Throws `tag_expression.too_long` (400).
    func checkLength() throws(PushError) {
        let shape = shape
        let limit = shape.isAlternative ? 20 : 6
        guard shape.tags > limit else { return }
        throw PushError(
            "tag_expression.too_long", "the tag expression has \(shape.tags) tags; the limit is \(limit)",
            hint: "20 are allowed where they are joined by || alone, 6 otherwise; send more than once", status: 400)
    }

    private var shape: (tags: Int, isAlternative: Bool) {
        switch self {
        case .tag: (1, true)
        case .not(let term): (term.shape.tags, false)
        case .and(let terms): (terms.reduce(0) { $0 + $1.shape.tags }, false)
        case .or(let terms):
            terms.reduce((0, true)) { sum, term in
                let shape = term.shape
                return (sum.0 + shape.tags, sum.1 && shape.isAlternative)
            }
        }
    }
}
