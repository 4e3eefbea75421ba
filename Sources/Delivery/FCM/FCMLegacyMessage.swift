import PushModel

/// A message of the legacy HTTP interface, converted to HTTP v1 ("Migrate from legacy FCM APIs to HTTP v1").
///
/// The targets (`to`, `registration_ids`, `condition`) are dropped, because the hub supplies them. So is `delay_while_idle`, which has had
/// no effect since 2016.
struct FCMLegacyMessage: Sendable {
    private let body: JSONObject

    init(_ body: JSONObject) {
        self.body = body
    }

    var converted: FCMMessage {
        var fields = JSONObject()
        var android = JSONObject()
        var aps = JSONObject()
        if let data = body["data"]?.object { fields["data"] = .object(texts(data)) }
        if let notification = body["notification"]?.object {
            let split = divided(notification)
            if !split.shared.isEmpty { fields["notification"] = .object(split.shared) }
            if !split.android.isEmpty { android["notification"] = .object(split.android) }
            if let badge = notification["badge"] { aps["badge"] = number(badge) }
        }
        android["collapse_key"] = body["collapse_key"]
        android["priority"] = body["priority"]?.string.map { .string($0.uppercased()) }
        android["ttl"] = body["time_to_live"].flatMap(seconds)
        android["restricted_package_name"] = body["restricted_package_name"]
        if body["content_available"].map(isTrue) == true { aps["content-available"] = .integer(1) }
        if body["mutable_content"].map(isTrue) == true { aps["mutable-content"] = .integer(1) }
        if !android.isEmpty { fields["android"] = .object(android) }
        if !aps.isEmpty { fields["apns"] = nested(["payload", "aps"], .object(aps)) }
        return FCMMessage(fields: fields, isDryRun: body["dry_run"].map(isTrue) ?? false)
    }

    /// Converts data values to text, the only type in v1; other values become their JSON text.
    private func texts(_ data: JSONObject) -> JSONObject {
        var texts = JSONObject()
        for (key, value) in data.members { texts[key] = .string(value.string ?? value.text()) }
        return texts
    }

    /// Splits a notification: title, body and image apply to every platform in v1; other fields apply to Android, the badge to iOS.
    private func divided(_ notification: JSONObject) -> (shared: JSONObject, android: JSONObject) {
        var shared = JSONObject()
        var android = JSONObject()
        for (key, value) in notification.members {
            switch key {
            case "title", "body", "image": shared[key] = value
            case "badge": continue
            case "android_channel_id": android["channel_id"] = value
            case "title_loc_args", "body_loc_args": android[key] = list(value)
            default: android[key] = value
            }
        }
        return (shared, android)
    }

    /// Parses a list. The legacy interface expected lists as JSON text.
    private func list(_ value: JSON) -> JSON {
        guard let text = value.string, let list = try? JSON(parsing: Array(text.utf8)), list.array != nil else {
            return value
        }
        return list
    }

    private func seconds(_ value: JSON) -> JSON? {
        guard let seconds = value.int ?? value.string.flatMap({ Int($0) }) else { return nil }
        return .string("\(seconds)s")
    }

    private func number(_ value: JSON) -> JSON {
        value.string.flatMap { Int64($0) }.map { .integer($0) } ?? value
    }

    private func isTrue(_ value: JSON) -> Bool {
        value == .bool(true) || value == .integer(1) || value.string?.lowercased() == "true"
    }

    private func nested(_ path: [String], _ value: JSON) -> JSON {
        path.reversed().reduce(value) { inner, key in
            var object = JSONObject()
            object[key] = inner
            return .object(object)
        }
    }
}
