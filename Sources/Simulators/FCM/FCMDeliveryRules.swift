/// The rules by which FCM stores a message for a phone and delivers it.
struct FCMDeliveryRules {
    let message: FCMMessage

    /// Maximum number of messages without a collapse key stored per app; one more discards all of them.
    private static let waitingLimit = 100
    /// Maximum number of collapse keys stored per app (Google, "About FCM messages").
    private static let collapseKeyLimit = 4

    /// Converts the accepted message to a push for the phone.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func push(id: String, for phone: PhoneDescription, now: Int64) -> AcceptedPush {
        let storagePolicy = storagePolicy(package: phone.app.id, now: now)
        var push = AcceptedPush(
            id: id, data: message.json.bytes, storagePolicy: storagePolicy, lowPower: message.isUrgent ? .comes : .waits(storagePolicy),
            topic: message.collapseKey)
        push.needsApp = true
        if let notification = message.notification {
            push.banner = banner(notification, strings: phone.app.strings)
            push.badgeCount = notification["notification_count"]?.integer.map { Int($0) }
        } else {
            push.isBackground = true
            push.wakesApp = true
            let text = ["message", "msg", "body", "alert"].lazy.compactMap { message.data[$0] }.first
            push.appBanner = text.map { Banner(title: message.data["title"] ?? "", body: $0) }
        }
        return push
    }

    /// How FCM stores it. Notification messages are always collapsible: those without a key share the app's.
    private func storagePolicy(package: String, now: Int64) -> AcceptedPush.StoragePolicy? {
        guard message.timeToLive > 0 else { return nil }
        let until = now + message.timeToLive
        guard let key = message.collapseKey ?? (message.notification == nil ? nil : package) else {
            return AcceptedPush.StoragePolicy(
                slot: "message", capacity: Self.waitingLimit, clearsWhenFull: true, until: until)
        }
        return AcceptedPush.StoragePolicy(
            slot: "key:\(key)", capacity: 1, family: "key", slots: Self.collapseKeyLimit, until: until)
    }

    private func banner(_ notification: JSONValue, strings: [String: String]) -> Banner {
        func text(_ plain: String, key: String, arguments: String) -> String {
            guard let key = notification[key]?.string else { return notification[plain]?.string ?? "" }
            return LocalizedText.text(
                forKey: key, arguments: notification[arguments]?.elements?.map { $0.string ?? $0.text } ?? [],
                in: strings)
        }
        return Banner(
            title: text("title", key: "title_loc_key", arguments: "title_loc_args"),
            body: text("body", key: "body_loc_key", arguments: "body_loc_args"),
            sound: notification["sound"]?.string, category: notification["click_action"]?.string,
            image: notification["image"]?.string, replacementKey: notification["tag"]?.string)
    }
}
