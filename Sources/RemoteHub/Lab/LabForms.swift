import FoundationEssentials
package import PushModel

// The JSON forms of a lab's data. Times are milliseconds since 1970, bytes are base64.

extension DeviceDescription {
    package static let members = ["name", "platform", "user", "locale", "timeZone"]

    package init(_ fields: LabFields) throws(PushError) {
        let word = try fields.optionalText("platform") ?? Platform.apns.shortName
        guard let platform = Platform(name: word) else {
            throw PushError(
                "device.platform", "no simulated phones for the platform \"\(word.prefix(40))\"",
                hint: "known platforms: \(Platform.spellings.joined(separator: ", "))", status: 400)
        }
        self.init(
            name: try fields.text("name"), platform: platform, user: try fields.optionalText("user"),
            locale: try fields.optionalText("locale") ?? "en-US", timeZone: try fields.optionalText("timeZone") ?? "UTC")
    }

    package func json(id: DeviceID? = nil) -> JSON {
        .lab([
            "id": id.map { .count($0.rawValue) }, "name": .string(name), "platform": .string(platform.shortName),
            "user": user.map { .string($0) }, "locale": .string(locale), "timeZone": .string(timeZone),
        ])
    }
}

extension DeviceHandle {
    /// `{"platform", "handle"}`; the handle of a browser is its PushSubscription.
    package var labJSON: JSON {
        let handle: JSON =
            if case .browser(let endpoint, let p256dh, let auth) = self {
                ["endpoint": .string(endpoint), "keys": ["p256dh": .string(p256dh), "auth": .string(auth)]]
            } else {
                .string(text)
            }
        return ["platform": .string(platform.shortName), "handle": handle]
    }

    package init(_ fields: LabFields) throws(PushError) {
        guard let platform = Platform(name: try fields.text("platform")), let handle = fields.value("handle") else {
            throw fields.wrong("handle", "a handle with its platform")
        }
        if platform == .browser {
            try self.init(subscription: handle)
        } else {
            try self.init(platform: platform, text: handle.string ?? "")
        }
    }
}

extension InboxItem {
    package var json: JSON {
        .lab([
            "id": .string(id), "receivedAt": .timestamp(receivedAt), "title": .string(alert.title), "body": .string(alert.body),
            "text": .string(display.text), "badge": alert.badge.map { .count($0) }, "payload": .string(Data(payload).base64EncodedString()),
            "source": .string(source.rawValue), "isShown": .bool(isShown), "isBackground": .bool(isBackground),
            "reasonNotShown": display.reasonNotShown.map { .string($0) },
        ])
    }

    init(_ json: JSON?) throws(PushError) {
        let fields = try LabFields(answer: json)
        self.init(
            id: try fields.text("id"), receivedAt: Timestamp(milliseconds: Int64(try fields.integer("receivedAt"))),
            source: Source(rawValue: try fields.text("source")) ?? .push,
            alert: Alert(title: try fields.text("title"), body: try fields.text("body"), badge: try fields.optionalInteger("badge")),
            display: Display(
                isShown: try fields.flag("isShown"), text: try fields.text("text"),
                reasonNotShown: try fields.optionalText("reasonNotShown")), payload: try fields.bytes("payload"),
            isBackground: try fields.flag("isBackground"))
    }
}

extension DeviceAction {
    package static let words = [
        "offline", "online", "low_power", "full_power", "force_quit", "launch", "rotate_token", "uninstall", "reinstall", "show",
        "handle_pushes",
    ]

    package var json: JSON {
        switch self {
        case .goOffline: ["action": "offline"]
        case .goOnline: ["action": "online"]
        case .enterLowPower: ["action": "low_power"]
        case .leaveLowPower: ["action": "full_power"]
        case .forceQuit: ["action": "force_quit"]
        case .launch: ["action": "launch"]
        case .rotateToken: ["action": "rotate_token"]
        case .uninstall: ["action": "uninstall"]
        case .reinstall: ["action": "reinstall"]
        case .show(let title, let body): ["action": "show", "title": .string(title), "body": .string(body)]
        case .handlePushes: ["action": "handle_pushes"]
        }
    }

    package init(body: JSON?) throws(PushError) {
        let fields = try LabFields(body: body, allowing: ["action", "title", "body"])
        let word = try fields.text("action")
        switch word {
        case "offline": self = .goOffline
        case "online": self = .goOnline
        case "low_power": self = .enterLowPower
        case "full_power": self = .leaveLowPower
        case "force_quit": self = .forceQuit
        case "launch": self = .launch
        case "rotate_token": self = .rotateToken
        case "uninstall": self = .uninstall
        case "reinstall": self = .reinstall
        case "show": self = .show(title: try fields.optionalText("title") ?? "", body: try fields.optionalText("body") ?? "")
        case "handle_pushes": self = .handlePushes
        default:
            throw PushError(
                "request.body", "unknown phone action \"\(word.prefix(40))\"",
                hint: nearest(word, in: Self.words).map { "did you mean \"\($0)\"?" } ?? "use one of \(Self.words.joined(separator: ", "))",
                status: 400)
        }
    }
}

extension InjectedRefusal {
    package var json: JSON {
        .lab([
            "reason": .string(reason), "at": requestKind == .send ? nil : .string(requestKind.rawValue), "count": count.map { .count($0) },
            "device": handle?.labJSON, "share": share == 1 ? nil : .number(share), "retryAfter": retryAfter.map { .count($0) },
        ])
    }

    /// Throws `request.body` if the form is wrong. The reason is not validated here, but by the service.
    package init(body: JSON?) throws(PushError) {
        let fields = try LabFields(body: body, allowing: ["reason", "at", "count", "device", "share", "retryAfter"])
        let words = RequestKind.allCases.map(\.rawValue)
        let word = try fields.optionalText("at") ?? RequestKind.send.rawValue
        guard let requestKind = RequestKind(rawValue: word) else { throw fields.wrong("at", words.joined(separator: " or ")) }
        let handle = try fields.value("device").map { device throws(PushError) in
            try DeviceHandle(try LabFields(body: device, allowing: ["platform", "handle"]))
        }
        self.init(
            try fields.text("reason"), at: requestKind, count: try fields.count(), handle: handle,
            share: try fields.optionalNumber("share") ?? 1, retryAfter: try fields.optionalInteger("retryAfter"))
    }
}

/// An event on a phone of a session.
package enum LabEvent: Sendable, Equatable {
    case phone(DeviceEvent)
    /// A push that woke the app's own code. `isStored`: whether it is stored for the app if the app is not waiting for it.
    case wake(DeviceID, InboxItem, isStored: Bool)

    package var json: JSON {
        switch self {
        case .phone(let event):
            [
                "time": .timestamp(event.time), "phone": .count(event.device.rawValue), "kind": .string(event.kind),
                "text": .string(event.text),
            ]
        case .wake(let phone, let item, let isStored):
            [
                "time": .timestamp(item.receivedAt), "phone": .count(phone.rawValue), "kind": "wake", "item": item.json,
                "isKept": .bool(isStored),
            ]
        }
    }

    init(_ json: JSON) throws(PushError) {
        let fields = try LabFields(answer: json)
        let (phone, kind) = (DeviceID(rawValue: try fields.integer("phone")), try fields.text("kind"))
        if kind == "wake" {
            self = .wake(phone, try InboxItem(fields.value("item")), isStored: try fields.flag("isKept"))
        } else {
            let time = Timestamp(milliseconds: Int64(try fields.integer("time")))
            self = .phone(DeviceEvent(time: time, device: phone, kind: kind, text: try fields.text("text")))
        }
    }
}

extension WireExchange {
    package var json: JSON {
        [
            "service": .string(service.shortName), "time": .timestamp(time), "method": .string(request.method),
            "authority": .string(request.authority),
            "path": .string(request.path), "requestHeaders": Self.json(request.headers),
            "requestBody": .string(Data(request.body).base64EncodedString()), "status": .count(response.status),
            "responseHeaders": Self.json(response.headers), "responseBody": .string(Data(response.body).base64EncodedString()),
        ]
    }

    init(_ json: JSON) throws(PushError) {
        let fields = try LabFields(answer: json)
        guard let service = Platform(name: try fields.text("service")) else { throw fields.wrong("service", "a push service") }
        self.init(
            service: service, time: Timestamp(milliseconds: Int64(try fields.integer("time"))),
            request: WireRequest(
                method: try fields.text("method"), authority: try fields.text("authority"), path: try fields.text("path"),
                headers: try Self.headers(fields.list("requestHeaders")), body: try fields.bytes("requestBody")),
            response: WireResponse(
                status: try fields.integer("status"), headers: try Self.headers(fields.list("responseHeaders")),
                body: try fields.bytes("responseBody")))
    }

    private static func json(_ headers: [PushHeader]) -> JSON {
        .array(headers.map { ["name": .string($0.name), "value": .string($0.value)] })
    }

    private static func headers(_ list: [JSON]) throws(PushError) -> [PushHeader] {
        var headers: [PushHeader] = []
        for json in list {
            let fields = try LabFields(answer: json)
            headers.append(PushHeader(try fields.text("name"), try fields.text("value")))
        }
        return headers
    }
}

extension LabFields {
    /// The optional member `count`, which must be positive.
    package func count() throws(PushError) -> Int? {
        guard let count = try optionalInteger("count") else { return nil }
        guard count > 0 else { throw wrong("count", "a number from 1") }
        return count
    }

    /// The bytes of a base64 string.
    fileprivate func bytes(_ name: String) throws(PushError) -> [UInt8] {
        guard let data = Data(base64Encoded: try text(name)) else { throw wrong(name, "base64") }
        return Array(data)
    }
}
