extension FCMMessage {
    /// How many messages without a collapse key wait for one app before all of them are thrown away.
    private static let waitingLimit = 100
    /// How many collapse keys may wait for one app (Google, "About FCM messages").
    private static let collapseKeyLimit = 4

    /// The accepted message in the phone's terms.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func parcel(id: String, for phone: PhoneDescription, now: Int64) -> Parcel {
        let keeping = keeping(package: phone.app, now: now)
        var parcel = Parcel(
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

    /// Notification messages are collapsible by nature: without a key of their own they share the app's.
    private func keeping(package: String, now: Int64) -> Parcel.Keeping? {
        guard timeToLive > 0 else { return nil }
        let until = now + timeToLive
        guard let key = collapseKey ?? (notification == nil ? nil : package) else {
            return Parcel.Keeping(
                slot: "message", capacity: Self.waitingLimit, clearsWhenFull: true, until: until)
        }
        return Parcel.Keeping(
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
