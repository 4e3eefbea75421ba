import HubWire
import NIOHTTP1
import PushModel

/// A message with a notification for one platform, in Azure's interface.
struct HubMessage {
    /// Nil for templates.
    var platform: Platform?
    var flags = ""
    var path: String?
    var headers: HTTPHeaders
    var body: [UInt8]
}

/// Encodes a notification as messages of Azure's interface.
struct HubMessageEncoder {
    /// The host of the hub, for errors.
    let host: String
    let isPushHost: Bool
    let random: any RandomSource
    let now: Timestamp

    /// The HTTP messages for a request. Throws the hub's validation errors before anything is sent; `target.unsupported` for options that
    /// the interface does not support.
    func messages(_ request: NotificationRequest) throws(PushError) -> [HubMessage] {
        let request = try request.checked(refusingLarge: true)
        let common = try headers(request)
        switch request.content {
        case .template(let properties):
            var headers = common
            headers.add(name: "ServiceBusNotification-Format", value: "template")
            headers.add(name: "Content-Type", value: "application/json;charset=utf-8")
            let body = JSON.object(JSONObject(properties.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) })).serialized()
            return [HubMessage(headers: headers, body: body)]
        case .native(let payloads):
            let wanted = Set(request.audience.handles.map { $0.platform })
            var messages: [HubMessage] = []
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key }) where wanted.isEmpty || wanted.contains(platform) {
                messages.append(try message(platform, payload, request, common))
            }
            return messages
        }
    }

    private func message(
        _ platform: Platform, _ payload: NativePayload, _ request: NotificationRequest, _ common: HTTPHeaders
    ) throws(PushError) -> HubMessage {
        let payload = PushOptionsWriter(options: request.options, now: now).written(into: payload, for: platform)
        var message = HubMessage(platform: platform, headers: common, body: payload.body)
        message.headers.add(name: "ServiceBusNotification-Format", value: platform.format)
        for header in payload.headers { message.headers.add(name: header.name, value: header.value) }
        let type = Self.contentType(of: payload, platform)
        let handles = request.audience.handles.filter { $0.platform == platform }
        switch handles.count {
        case 0: message.headers.add(name: "Content-Type", value: type)
        case 1:
            message.flags = "&direct"
            message.headers.add(name: "Content-Type", value: type)
            if case .browser(let endpoint, let p256dh, let auth) = handles[0] {
                message.headers.add(contentsOf: [
                    ("ServiceBusNotification-DeviceHandle", endpoint), ("P256DH", p256dh), ("Auth", auth),
                ])
            } else {
                message.headers.add(name: "ServiceBusNotification-DeviceHandle", value: handles[0].text)
            }
        default:
            let boundary = "pushhost-\(random.hex(24))"
            message.flags = "&direct"
            message.path = "messages/$batch"
            message.headers.add(name: "Content-Type", value: "multipart/mixed; boundary=\"\(boundary)\"")
            message.body = Self.batch(payload.body, type, handles, boundary)
        }
        return message
    }

    private static func batch(_ body: [UInt8], _ type: String, _ handles: [DeviceHandle], _ boundary: String) -> [UInt8] {
        var bytes = Array("--\(boundary)\r\nContent-Type: \(type)\r\nContent-Disposition: inline; name=notification\r\n\r\n".utf8)
        bytes += body
        bytes += Array(
            "\r\n--\(boundary)\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=devices\r\n\r\n".utf8)
        bytes += JSON.array(handles.map(HubDocument.handle)).serialized()
        bytes += Array("\r\n--\(boundary)--\r\n".utf8)
        return bytes
    }

    private func headers(_ request: NotificationRequest) throws(PushError) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        if let words = request.audience.words { headers.add(name: "ServiceBusNotification-Tags", value: words) }
        let wanted = request.options
        if case .template = request.content, !isPushHost, wanted.priority != nil || wanted.collapseID != nil {
            throw PushError(
                "target.unsupported", "\(host) supports neither priority nor collapse_id with templates",
                hint: "write them into the templates, or send alert or payload", status: 400)
        }
        if let pace = request.pace {
            guard isPushHost else {
                throw PushError(
                    "target.unsupported", "\(host) does not support pace",
                    hint: "leave out pace, or send to parts of the audience", status: 400)
            }
            headers.add(name: "ServiceBusNotification-Pace", value: pace.description)
        }
        if let expiration = wanted.expiration {
            headers.add(name: "ServiceBusNotification-Apns-Expiry", value: expiration.iso8601(fraction: false))
            headers.add(name: "ServiceBusNotification-Expiration", value: expiration.iso8601(fraction: false))
        }
        if let priority = wanted.priority { headers.add(name: "ServiceBusNotification-Urgency", value: priority.rawValue) }
        if let id = wanted.collapseID { headers.add(name: "ServiceBusNotification-CollapseId", value: id) }
        return headers
    }

    /// The content type of the message to the hub.
    private static func contentType(of payload: NativePayload, _ platform: Platform) -> String {
        switch platform {
        case .wns:
            let isRaw = payload.headers.contains { $0.name.lowercased() == "x-wns-type" && $0.value.lowercased() == "wns/raw" }
            return isRaw ? "application/octet-stream" : "application/xml"
        case .mpns: return "application/xml"
        case .apns, .fcmV1, .gcm, .browser, .adm, .baidu, .xiaomi: return "application/json;charset=utf-8"
        }
    }
}
