/// The bodies that make each platform show a plain text.
package enum AlertPayloads {
    /// For every platform: shown by the system, without code in the app.
    package static func system(title: String?, text: String) -> [Platform: NativePayload] {
        var alert: JSON = .string(text)
        var notification: JSONObject = ["body": .string(text)]
        if let title {
            alert = ["title": .string(title), "body": .string(text)]
            notification = ["title": .string(title), "body": .string(text)]
        }
        let browser: JSON = ["title": .string(title ?? text), "body": .string(title == nil ? "" : text)]
        return [
            .apns: payload(["aps": ["alert": alert]]),
            .fcmV1: payload(["message": ["notification": .object(notification)]]),
            .gcm: payload(["notification": .object(notification)]),
            .wns: toast(title: title, text: text),
            .browser: payload(browser),
        ]
    }

    /// The shapes of the tutorials' app backend: FCM and GCM get a data message that the app shows itself. A browser,
    /// of which the tutorials do not speak, gets what `system` gives it.
    package static func backend(text: String) -> [Platform: NativePayload] {
        [
            .apns: payload(["aps": ["alert": .string(text)]]),
            .fcmV1: payload(["message": ["data": ["message": .string(text)]]]),
            .gcm: payload(["data": ["message": .string(text)]]),
            .wns: toast(title: nil, text: text),
            .browser: payload(["title": .string(text), "body": ""]),
        ]
    }

    private static func payload(_ json: JSON) -> NativePayload { NativePayload(body: json.serialized()) }

    private static func toast(title: String?, text: String) -> NativePayload {
        var xml = Array("<toast><visual><binding template=\"ToastGeneric\">".utf8)
        for line in [title, text].compactMap({ $0 }) {
            xml += "<text>".utf8
            XMLEscaping.text(line, into: &xml)
            xml += "</text>".utf8
        }
        xml += "</binding></visual></toast>".utf8
        return NativePayload(body: xml, headers: [PushHeader("X-WNS-Type", "wns/toast")])
    }
}
