/// The address of one app on one device at a push service.
package enum DeviceHandle: Hashable, Sendable {
    /// An APNs device token: hexadecimal, opaque, compared without regard to case.
    case apns(token: String)
    /// An FCM registration token, used through FCM's v1 interface.
    case fcmV1(token: String)
    /// An FCM registration token used by a legacy GCM registration.
    case gcm(token: String)
    /// A WNS channel URI.
    case wns(channel: String)
    /// A Web Push subscription (RFC 8291: the user agent's P-256 key and authentication secret, base64url).
    case browser(endpoint: String, p256dh: String, auth: String)
    /// An MPNS channel URI.
    case mpns(channel: String)
    /// An ADM registration id.
    case adm(token: String)
    /// A Baidu user id and channel id; as one text `user-channel`.
    case baidu(user: String, channel: String)
    /// A Xiaomi registration id.
    case xiaomi(token: String)

    /// Checks the format that the platform requires. A browser's handle is its subscription as JSON. Throws `handle.invalid`.
    package init(platform: Platform, text: String) throws(PushError) {
        func refuse(_ why: String, _ hint: String) -> PushError { Self.refusal(platform, why, hint) }
        guard !text.isEmpty else { throw refuse("is empty", "pass the handle that the push service gave the app") }
        guard text.utf8.count <= 4096 else { throw refuse("is longer than 4,096 bytes", "pass the handle alone") }
        switch platform {
        case .apns:
            guard text.utf8.count.isMultiple(of: 2), text.utf8.allSatisfy(\.isHexDigit) else {
                throw refuse("is not hexadecimal of even length", "send the device token in hexadecimal, without spaces")
            }
            self = .apns(token: text.uppercased())
        case .fcmV1, .gcm, .adm, .xiaomi:
            guard text.utf8.allSatisfy(\.isVisibleASCII) else {
                throw refuse("has spaces or characters outside ASCII", "pass the token as the push service gave it")
            }
            switch platform {
            case .gcm: self = .gcm(token: text)
            case .adm: self = .adm(token: text)
            case .xiaomi: self = .xiaomi(token: text)
            default: self = .fcmV1(token: text)
            }
        case .baidu:
            let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            try self.init(user: String(parts[0]), channel: parts.count > 1 ? String(parts[1]) : "")
        case .wns, .mpns:
            guard ["https://", "http://"].contains(where: { text.startsInAnyCase(with: $0) }),
                text.utf8.allSatisfy(\.isVisibleASCII)
            else { throw refuse("is not a URI", "pass the channel URI that \(platform.displayName) gave the app") }
            self = platform == .wns ? .wns(channel: text) : .mpns(channel: text)
        case .browser:
            guard let subscription = try? JSON(parsing: text) else {
                throw refuse("needs endpoint, p256dh and auth", "pass the browser's PushSubscription")
            }
            try self.init(subscription: subscription)
        }
    }

    /// Reads a browser's PushSubscription: `endpoint`, and `p256dh` and `auth` either beside it or under `keys`, as browsers write it.
    /// Throws `handle.invalid`.
    package init(subscription: JSON) throws(PushError) {
        let keys = subscription["keys"] ?? subscription
        guard let endpoint = subscription["endpoint"]?.string, let p256dh = keys["p256dh"]?.string,
            let auth = keys["auth"]?.string
        else { throw Self.refusal(.browser, "needs endpoint, p256dh and auth", "pass the browser's PushSubscription") }
        try self.init(endpoint: endpoint, p256dh: p256dh, auth: auth)
    }

    /// Checks the parts of a Web Push subscription: a key of 65 bytes and a secret of 16 (RFC 8291, section 3).
    package init(endpoint: String, p256dh: String, auth: String) throws(PushError) {
        let hint = "pass the browser's PushSubscription"
        guard endpoint.utf8.count <= 4096, endpoint.startsInAnyCase(with: "https://"),
            endpoint.utf8.allSatisfy(\.isVisibleASCII)
        else { throw Self.refusal(.browser, "has an endpoint that is not an https URI", hint) }
        guard let key = Self.base64URL(p256dh), key.utf8.count == 87 else {
            throw Self.refusal(.browser, "has a p256dh that is not a key of 65 bytes in base64url", hint)
        }
        guard let secret = Self.base64URL(auth), secret.utf8.count == 22 else {
            throw Self.refusal(.browser, "has an auth that is not 16 bytes in base64url", hint)
        }
        self = .browser(endpoint: endpoint, p256dh: key, auth: secret)
    }

    /// Checks the parts of a Baidu handle; either may contain a dash.
    package init(user: String, channel: String) throws(PushError) {
        let parts = [user, channel]
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isVisibleASCII) }) else {
            throw Self.refusal(.baidu, "is not a user id and a channel id", "write them as user-channel")
        }
        guard user.utf8.count + channel.utf8.count < 4096 else {
            throw Self.refusal(.baidu, "is longer than 4,096 bytes", "pass the handle alone")
        }
        self = .baidu(user: user, channel: channel)
    }

    /// The handle in the platform's canonical spelling. Throws `handle.invalid` if the platform's rules are violated.
    package func checked() throws(PushError) -> DeviceHandle {
        switch self {
        case .browser(let endpoint, let p256dh, let auth): try DeviceHandle(endpoint: endpoint, p256dh: p256dh, auth: auth)
        case .baidu(let user, let channel): try DeviceHandle(user: user, channel: channel)
        default: try DeviceHandle(platform: platform, text: text)
        }
    }

    package var platform: Platform {
        switch self {
        case .apns: .apns
        case .fcmV1: .fcmV1
        case .gcm: .gcm
        case .wns: .wns
        case .browser: .browser
        case .mpns: .mpns
        case .adm: .adm
        case .baidu: .baidu
        case .xiaomi: .xiaomi
        }
    }

    /// The token, channel URI or endpoint.
    package var text: String {
        switch self {
        case .apns(let token), .fcmV1(let token), .gcm(let token), .adm(let token), .xiaomi(let token): token
        case .wns(let channel), .mpns(let channel): channel
        case .baidu(let user, let channel): "\(user)-\(channel)"
        case .browser(let endpoint, _, _): endpoint
        }
    }

    /// A shortened form that identifies a handle in a log but cannot be sent to.
    package var abbreviated: String {
        let text = text
        return text.count <= 12 ? text : "\(text.prefix(6))…\(text.suffix(4))"
    }

    private static func refusal(_ platform: Platform, _ why: String, _ hint: String) -> PushError {
        PushError("handle.invalid", "\(platform.displayName) handle \(why)", hint: hint, status: 400)
    }

    /// The text in base64url without padding; nil if it is not base64.
    private static func base64URL(_ text: String) -> String? {
        var bytes: [UInt8] = []
        for byte in text.utf8.prefix(1024) {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "_"): bytes.append(byte)
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): bytes.append(UInt8(ascii: "_"))
            case UInt8(ascii: "="): continue
            default: return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// - Parameter prefix: in lower-case ASCII.
    fileprivate func startsInAnyCase(with prefix: String) -> Bool {
        String(decoding: utf8.prefix(prefix.utf8.count), as: UTF8.self).lowercased() == prefix
    }
}

extension UInt8 {
    package var isHexDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    /// Printable and not a space.
    fileprivate var isVisibleASCII: Bool { self > 0x20 && self < 0x7f }
}
