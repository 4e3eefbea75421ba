/// The rules for single fields of a message; each refusal names the field.
enum FCMFieldCheck {
    /// An object with none but the known members; absence is fine.
    static func object(_ value: JSONValue?, _ path: String, allowing names: Set<String>? = nil) throws(FCMRefusal) {
        guard let value else { return }
        guard let members = value.members else {
            throw .badSchema(path, "Invalid value at '\(path)' (an object is expected)")
        }
        guard let names else { return }
        for member in members where !names.contains(member.name) {
            throw .badSchema(
                path, "Invalid JSON payload received. Unknown name \"\(member.name)\" at '\(path)': Cannot find field.")
        }
    }

    /// A flat map of texts.
    static func texts(_ value: JSONValue?, _ path: String) throws(FCMRefusal) -> [String: String] {
        try object(value, path)
        var texts: [String: String] = [:]
        for member in value?.members ?? [] {
            guard let text = member.value.string else {
                throw .badSchema(
                    "\(path)[\(member.name)]",
                    "Invalid value at '\(path)[\(member.name)].value' (TYPE_STRING), \(member.value.text)")
            }
            texts[member.name] = text
        }
        return texts
    }

    /// `data`: texts under names that Google does not keep for itself.
    static func data(_ value: JSONValue?, _ path: String) throws(FCMRefusal) -> [String: String] {
        let data = try texts(value, path)
        for name in data.keys.sorted()
        where name == "from" || name == "message_type" || name.hasPrefix("google") || name.hasPrefix("gcm") {
            throw .badField(path, "Invalid data payload key: \(name)")
        }
        return data
    }

    static func notification(_ value: JSONValue?) throws(FCMRefusal) {
        try object(value, "message.notification", allowing: ["title", "body", "image"])
        _ = try texts(value, "message.notification")
    }

    static func android(_ value: JSONValue?) throws(FCMRefusal) {
        try object(
            value, "message.android",
            allowing: [
                "collapse_key", "priority", "ttl", "restricted_package_name", "data", "notification", "fcm_options",
                "direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok",
            ])
        if let priority = value?["priority"], !["NORMAL", "HIGH"].contains(priority.string?.uppercased()) {
            throw .badSchema(
                "message.android.priority", "Invalid value at 'message.android.priority' (AndroidMessagePriority)")
        }
        for name in ["collapse_key", "restricted_package_name"] {
            if let text = value?[name], text.string == nil {
                throw .badSchema("message.android.\(name)", "Invalid value at 'message.android.\(name)' (TYPE_STRING)")
            }
        }
        try androidNotification(value?["notification"])
    }

    private static let androidTexts: Set<String> = [
        "title", "body", "icon", "color", "sound", "tag", "click_action", "body_loc_key", "title_loc_key",
        "channel_id", "ticker", "event_time", "notification_priority", "visibility", "image", "proxy",
    ]
    private static let androidOthers: Set<String> = [
        "body_loc_args", "title_loc_args", "sticky", "local_only", "default_sound", "default_vibrate_timings",
        "default_light_settings", "vibrate_timings", "notification_count", "light_settings",
        "bypass_proxy_notification",
    ]

    private static func androidNotification(_ value: JSONValue?) throws(FCMRefusal) {
        let path = "message.android.notification"
        try object(value, path, allowing: androidTexts.union(androidOthers))
        for member in value?.members ?? [] where androidTexts.contains(member.name) && member.value.string == nil {
            throw .badSchema("\(path).\(member.name)", "Invalid value at '\(path).\(member.name)' (TYPE_STRING)")
        }
    }

    static func apns(_ value: JSONValue?) throws(FCMRefusal) {
        try object(
            value, "message.apns", allowing: ["headers", "payload", "fcm_options", "live_activity_token"])
        _ = try texts(value?["headers"], "message.apns.headers")
        try object(value?["payload"], "message.apns.payload")
    }

    static func webpush(_ value: JSONValue?) throws(FCMRefusal) {
        try object(value, "message.webpush", allowing: ["headers", "data", "notification", "fcm_options"])
        _ = try texts(value?["headers"], "message.webpush.headers")
        _ = try texts(value?["data"], "message.webpush.data")
    }

    /// `"3.5s"`: seconds with up to nine decimals, four weeks at most (protocol buffers' JSON form of Duration).
    ///
    /// - Returns: Milliseconds; nil when absent.
    static func timeToLive(_ value: JSONValue?) throws(FCMRefusal) -> Int64? {
        guard let value else { return nil }
        let path = "message.android.ttl"
        guard let text = value.string, text.hasSuffix("s"), let seconds = seconds(text.dropLast()) else {
            throw .badSchema(path, "Invalid value at '\(path)' (type.googleapis.com/google.protobuf.Duration)")
        }
        guard (0...2_419_200).contains(seconds) else {
            throw .badField(path, "Invalid ttl: must be between 0 and 2419200 seconds, inclusive")
        }
        return Int64(seconds * 1000)
    }

    private static func seconds(_ text: Substring) -> Double? {
        let number = text.hasPrefix("-") ? text.dropFirst() : text
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }),
            parts.count == 1 || parts[1].utf8.count <= 9,
            parts.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } })
        else { return nil }
        return Double(text)
    }
}
