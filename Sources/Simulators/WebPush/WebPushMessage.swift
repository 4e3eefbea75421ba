/// A decrypted message as a browser, or the service worker of a typical web app, would show it.
struct WebPushMessage {
    /// Shown by the browser itself (W3C, "Push API", section "Declarative push message").
    var declarative: Banner?
    /// Whether the service worker may change a declarative notification.
    var isMutable = false
    var badgeCount: Int?
    /// Shown by the service worker.
    var byApp: Banner?

    init(_ plaintext: [UInt8]) {
        guard let json = JSONValue(plaintext), json.members != nil else {
            let text = String(validating: plaintext, as: UTF8.self) ?? ""
            byApp = text.isEmpty ? nil : Banner(title: text)
            return
        }
        if let notification = json["notification"], json["web_push"]?.integer == 8030,
            let title = notification["title"]?.string, !title.isEmpty, let target = notification["navigate"]?.string,
            target.hasPrefix("https://") || target.hasPrefix("http://")
        {
            var banner = Self.banner(notification)
            banner.category = target
            declarative = banner
            isMutable = (json["mutable"] ?? notification["mutable"])?.bool == true
            badgeCount = Self.count(json["app_badge"] ?? notification["app_badge"])
            return
        }
        // The fields are at the top level, or under "notification" as in the libraries of Angular and Firebase.
        let banner = Self.banner(json["notification"].flatMap { $0.members == nil ? nil : $0 } ?? json)
        byApp = banner.isEmpty ? nil : banner
    }

    private static func banner(_ notification: JSONValue) -> Banner {
        Banner(
            title: notification["title"]?.string ?? "", body: notification["body"]?.string ?? "",
            image: (notification["image"] ?? notification["icon"])?.string, replacementKey: notification["tag"]?.string)
    }

    /// A number, or one as a string as in WebKit's examples.
    private static func count(_ value: JSONValue?) -> Int? {
        (value?.integer ?? value?.string.flatMap { Int64($0) }).flatMap { $0 >= 0 ? Int(exactly: $0) : nil }
    }
}
