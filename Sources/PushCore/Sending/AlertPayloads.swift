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
            .wns: wns(toastText01(text)),
            .browser: payload(["title": .string(text), "body": ""]),
        ]
    }

    /// The test notification of the app backend of 2013: an app that is open shows `inAppMessage` itself. The tutorial
    /// has APNs and WNS only; the other platforms get the like.
    package static func currentUser(text: String) -> [Platform: NativePayload] {
        [
            .apns: payload(["aps": ["alert": .string(text)], "inAppMessage": .string(text)]),
            .fcmV1: payload(["message": ["data": ["message": .string(text), "inAppMessage": .string(text)]]]),
            .gcm: payload(["data": ["message": .string(text), "inAppMessage": .string(text)]]),
            .wns: wns(toastText01(text)),
            .browser: payload(["title": .string(text), "body": "", "inAppMessage": .string(text)]),
        ]
    }

    /// The body of a template that shows one property as a plain text, in the shapes of the tutorials (breaking news).
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

    /// A line of text in the oldest form, which every Windows shows ("The toast template catalog").
    private static func toastText01(_ text: String) -> [UInt8] {
        var xml = Array("<toast><visual><binding template=\"ToastText01\"><text id=\"1\">".utf8)
        XMLEscaping.text(text, into: &xml)
        return xml + "</text></binding></visual></toast>".utf8
    }

    private static func wns(_ toast: [UInt8]) -> NativePayload {
        NativePayload(body: toast, headers: [PushHeader("X-WNS-Type", "wns/toast")])
    }
}
