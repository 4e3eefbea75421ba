/// Payloads that show a plain text on each platform.
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

    /// The payloads of the tutorials' app backend: FCM and GCM get a data message, which the app shows itself. Browsers, which the
    /// tutorials do not cover, get the payload of `system`.
    package static func backend(text: String) -> [Platform: NativePayload] {
        [
            .apns: payload(["aps": ["alert": .string(text)]]),
            .fcmV1: payload(["message": ["data": ["message": .string(text)]]]),
            .gcm: payload(["data": ["message": .string(text)]]),
            .wns: wns(toastText01(text)),
            .browser: payload(["title": .string(text), "body": ""]),
        ]
    }

    /// The test notification of the 2013 app backend: an open app shows `inAppMessage` itself. The tutorial has payloads for APNs and WNS;
    /// the other platforms get similar ones.
    package static func currentUser(text: String) -> [Platform: NativePayload] {
        [
            .apns: payload(["aps": ["alert": .string(text)], "inAppMessage": .string(text)]),
            .fcmV1: payload(["message": ["data": ["message": .string(text), "inAppMessage": .string(text)]]]),
            .gcm: payload(["data": ["message": .string(text), "inAppMessage": .string(text)]]),
            .wns: wns(toastText01(text)),
            .browser: payload(["title": .string(text), "body": "", "inAppMessage": .string(text)]),
        ]
    }

    /// The body of a template that shows one property as plain text, as in the tutorials (breaking news).
    package static func template(property: String, platform: Platform) -> String {
        let text = "$(\(property))"
        let value: JSON = .string(text)
        func json(_ json: JSON) -> String { json.text() }
        return switch platform {
        case .apns: json(["aps": ["alert": value]])
        case .fcmV1: json(["message": ["notification": ["body": value]]])
        case .gcm: json(["data": ["message": value]])
        case .wns: String(decoding: toastText01(text), as: UTF8.self)
        case .browser: json(["title": value, "body": ""])
        case .adm, .baidu, .xiaomi: json(["data": ["message": value]])
        case .mpns:
            #"<wp:Notification xmlns:wp="WPNotification"><wp:Toast><wp:Text1>"# + text
                + "</wp:Text1></wp:Toast></wp:Notification>"
        }
    }

    private static func payload(_ json: JSON) -> NativePayload { NativePayload(body: json.serialized()) }

    private static func toast(title: String?, text: String) -> NativePayload {
        var xml = Array("<toast><visual><binding template=\"ToastGeneric\">".utf8)
        for line in [title, text].compactMap({ $0 }) {
            xml += "<text>".utf8
            XMLEscaping.text(line, into: &xml)
            xml += "</text>".utf8
        }
        return wns(xml + "</binding></visual></toast>".utf8)
    }

    /// One line of text in the oldest form, which every Windows shows ("The toast template catalog").
    private static func toastText01(_ text: String) -> [UInt8] {
        var xml = Array("<toast><visual><binding template=\"ToastText01\"><text id=\"1\">".utf8)
        XMLEscaping.text(text, into: &xml)
        return xml + "</text></binding></visual></toast>".utf8
    }

    private static func wns(_ toast: [UInt8]) -> NativePayload {
        NativePayload(body: toast, headers: [PushHeader("X-WNS-Type", "wns/toast")])
    }
}
