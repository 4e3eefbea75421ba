import HTTPTypes
import HubWire
import PushModel

/// Typed access to the headers of a send.
struct MessageHeaders {
    private let fields: HTTPFields

    init(_ fields: HTTPFields) { self.fields = fields }

    private static let prefix = "servicebusnotification-"

    /// Nil for templates. Throws `notification.format` (400).
    func platform() throws(PushError) -> Platform? {
        let names = "apple, gcm, fcmV1, windows, windowsphone, adm, baidu, browser, xiaomi or template"
        guard let text = try only("format", "notification.format")?.nonEmpty else {
            throw PushError(
                "notification.format", "the request has no header ServiceBusNotification-Format", hint: "use \(names)", status: 400)
        }
        let name = text.lowercased()
        if name == "template" { return nil }
        if name == "fcm" { return .fcmV1 }
        guard let platform = Platform.allCases.first(where: { $0.format.lowercased() == name }) else {
            throw PushError(
                "notification.format", "unknown notification format \"\(text)\"", hint: "use \(names)", status: 400)
        }
        return platform
    }

    /// The value of a header that must not occur twice, because one of the two would be ignored silently.
    private func only(_ name: String, _ code: String) throws(PushError) -> String? {
        let texts = fields.texts(Self.prefix + name)
        guard texts.count > 1 else { return texts.first }
        throw PushError(
            code, "the request has \(texts.count) headers \(Self.prefix)\(name)", hint: "send one", status: 400)
    }

    /// The audience; everyone if there is no tags header. Invalid tags are always an error, never everyone.
    /// Throws `tag_expression.invalid`, `tag_expression.too_long` and `tags.empty` (400).
    ///
    /// - Parameter emptyTags: What a header without tags means.
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
        // Other whitespace than HTTP's, such as a no-break space, never meant everyone.
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

    /// Whether it is a direct send. The device handle header is sufficient, so that a request without its `direct` flag does not become a
    /// broadcast. The same applies to an APNs channel.
    func isDirect(_ platform: Platform?) -> Bool {
        fields.contains { $0.name.canonicalName == Self.prefix + "devicehandle" } || platform == .apns && channel != nil
    }

    private var channel: String? { fields.text("apns-channel-id") ?? fields.text("x-apns-channel-id") }

    /// The handle of a direct send. Throws `handle.invalid` (400), also if it is missing.
    func device(_ platform: Platform) throws(PushError) -> DeviceHandle {
        let text = try only("devicehandle", "handle.invalid") ?? ""
        if platform == .apns, text.isEmpty, let channel {
            guard let handle = DeviceHandle.apns(channel: channel) else {
                throw PushError(
                    "handle.invalid", "the apns-channel-id is not a channel id", hint: "use the id returned by its creation",
                    status: 400)
            }
            return handle
        }
        if platform == .browser, let p256dh = fields.text("p256dh"), let auth = fields.text("auth") {
            return try DeviceHandle(endpoint: text, p256dh: p256dh, auth: auth)
        }
        return try DeviceHandle(platform: platform, text: text)
    }

    /// Nil if there is no such header. Throws `notification.schedule` (400).
    func scheduleTime() throws(PushError) -> Timestamp? {
        guard let text = try only("scheduletime", "notification.schedule") else { return nil }
        guard let time = Timestamp(date: text) else {
            throw PushError(
                "notification.schedule", "invalid time \"\(text)\"", hint: "write it in UTC, such as 2026-01-31T12:00:00Z",
                status: 400)
        }
        return time
    }

    var isTest: Bool { fields.text(Self.prefix + "testsend")?.lowercased() == "true" }

    /// The time when APNs should give up. Clients always send this header, in various formats, so an invalid value is not an error.
    var expiration: Timestamp? {
        for name in ["apns-expiry", "apnsexpiry"] {
            if let time = fields.text(Self.prefix + name).flatMap({ Timestamp(date: $0) }) { return time }
        }
        return nil
    }

    /// The push options, whatever the format. Azure does not have all of these headers; clients that send them mean them.
    func options(_ platform: Platform?) -> PushOptions {
        let own = fields.text(Self.prefix + "expiration").flatMap { Timestamp(date: $0) }
        return PushOptions(
            expiration: own ?? (platform == nil || platform == .apns ? expiration : nil),
            priority: fields.text(Self.prefix + "urgency").flatMap { PushOptions.Priority(rawValue: $0.lowercased()) },
            collapseID: fields.text(Self.prefix + "collapseid")?.nonEmpty)
    }

    /// The maximum send rate: a header of PushHost that Azure does not have. Throws `send.pace` (400).
    func pace() throws(PushError) -> Pace? {
        try only("pace", "send.pace")?.nonEmpty.map { text throws(PushError) in try Pace(text) }
    }

    /// The headers for the push service, in order. `X-Apns-Priority` is used if `apns-priority` is missing.
    func platformHeaders(to platform: Platform) -> [PushHeader] {
        var headers: [PushHeader] = []
        for field in fields {
            let name = field.name.canonicalName
            // First, because most fields are for the hub, and reading their values is expensive.
            guard Self.isHeader(name, of: platform), let value = field.printable, !value.isEmpty else { continue }
            guard platform == .apns else {
                headers.append(PushHeader(field.name.rawName, value))
                continue
            }
            let own = name.hasPrefix("x-") ? String(name.dropFirst(2)) : name
            if own == name || fields.text(own)?.nonEmpty == nil { headers.append(PushHeader(own, value)) }
        }
        return headers
    }

    /// Whether a header is passed on to the push service.
    private static func isHeader(_ name: String, of platform: Platform) -> Bool {
        switch platform {
        case .apns: name.hasPrefix("apns-") || name.hasPrefix("x-apns-")
        case .wns: name.hasPrefix("x-wns-")
        case .baidu: name.hasPrefix("x-baidu-")
        case .mpns: name.hasPrefix("x-") && !isTransportHeader(name)
        default: false
        }
    }

    /// Whether Azure's clients or proxies add the header to any request.
    private static func isTransportHeader(_ name: String) -> Bool {
        ["x-ms-", "x-forwarded-", "x-real-", "x-request-", "x-apns-", "x-wns-"].contains { name.hasPrefix($0) }
    }
}

extension TagExpression {
    /// Checks Azure's limits: 20 tags if joined by `||` only, otherwise 6. Throws `tag_expression.too_long` (400).
    func checkLength() throws(PushError) {
        let shape = shape
        let limit = shape.isAlternative ? 20 : 6
        guard shape.tags > limit else { return }
        throw PushError(
            "tag_expression.too_long", "the tag expression has \(shape.tags) tags; the limit is \(limit)",
            hint: "20 are allowed if joined by || only, otherwise 6; split the send", status: 400)
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
