extension FCMMessage {
    /// Maximum number of messages without a collapse key stored per app; one more discards all of them.
    private static let waitingLimit = 100
    /// Maximum number of collapse keys stored per app (Google, "About FCM messages").
    private static let collapseKeyLimit = 4

    /// Converts the accepted message to a parcel for the phone.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func parcel(id: String, for phone: PhoneDescription, now: Int64) -> AcceptedPush {
        let keeping = keeping(package: phone.app, now: now)
        var parcel = AcceptedPush(
            id: id, data: json.bytes, keeping: keeping, lowPower: isUrgent ? .comes : .waits(keeping), topic: collapseKey)
        parcel.needsApp = true
        if let notification {
            parcel.banner = banner(notification, strings: phone.strings)
            parcel.badgeCount = notification["notification_count"]?.integer.map { Int($0) }
        } else {
            parcel.isBackground = true
            parcel.wakesApp = true
            let text = ["message", "msg", "body", "alert"].lazy.compactMap { data[$0] }.first
            parcel.appBanner = text.map { Banner(title: data["title"] ?? "", body: $0) }
        }
        return parcel
    }

    /// How FCM stores it. Notification messages are always collapsible: those without a key share the app's.
    private func keeping(package: String, now: Int64) -> AcceptedPush.Keeping? {
        guard timeToLive > 0 else { return nil }
        let until = now + timeToLive
        guard let key = collapseKey ?? (notification == nil ? nil : package) else {
            return AcceptedPush.Keeping(
                slot: "message", capacity: Self.waitingLimit, clearsWhenFull: true, until: until)
        }
        return AcceptedPush.Keeping(
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
