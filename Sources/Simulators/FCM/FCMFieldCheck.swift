/// Checks the values of single fields, after the shape of the message; each error names the field.
enum FCMFieldCheck {
    /// Maximum size of the APNs payload, and of notification plus data of Web Push, in bytes.
    private static let largestPayload = 4096

    /// Reads `data`: strings whose names are not reserved by Google.
    static func data(_ value: JSONValue?, _ path: String) throws(FCMRefusal) -> [String: String] {
        var data: [String: String] = [:]
        for member in value?.members ?? [] { data[member.name] = member.value.string }
        for name in data.keys.sorted()
        where name == "from" || name == "message_type" || name.hasPrefix("google") || name.hasPrefix("gcm") {
            throw .badField(path, "Invalid data payload key: \(name)")
        }
        return data
    }

    static func android(_ value: JSONValue?) throws(FCMRefusal) {
        if let color = value?["notification"]?["color"]?.string {
            guard color.hasPrefix("#"), color.utf8.count == 7, color.utf8.dropFirst().allSatisfy(Hex.isDigit) else {
                throw .badField("message.android.notification.color", "Invalid color: \(color) is not in the format #rrggbb")
            }
        }
        try label(in: value, "message.android")
    }

    static func apns(_ value: JSONValue?) throws(FCMRefusal) {
        for header in value?["headers"]?.members ?? []
        where header.name.lowercased() == "apns-priority" && !["1", "5", "10"].contains(header.value.string) {
            throw .badField("message.apns.headers", "Invalid apns-priority: must be 1, 5 or 10")
        }
        try size([value?["payload"]], "message.apns.payload")
        try label(in: value, "message.apns")
    }

    static func webpush(_ value: JSONValue?) throws(FCMRefusal) {
        if let link = value?["fcm_options"]?["link"]?.string, !link.lowercased().hasPrefix("https://") {
            throw .badField("message.webpush.fcm_options.link", "Invalid link: must be an HTTPS URL")
        }
        try size([value?["notification"], value?["data"]], "message.webpush")
        try label(in: value, "message.webpush")
    }

    /// Checks `analytics_label` in the options of a section or of the message.
    static func label(in section: JSONValue?, _ path: String) throws(FCMRefusal) {
        guard let label = section?["fcm_options"]?["analytics_label"]?.string else { return }
        guard label.utf8.count <= 50, FCMTarget.isTopic(label) else {
            throw .badField("\(path).fcm_options.analytics_label", "Invalid analytics label: must match ^[a-zA-Z0-9-_.~%]{1,50}$")
        }
    }

    private static func size(_ parts: [JSONValue?], _ path: String) throws(FCMRefusal) {
        let size = parts.reduce(0) { $0 + ($1?.bytes.count ?? 0) }
        guard size <= largestPayload else {
            throw .badField(path, "The payload is too big: \(size) bytes, at most \(largestPayload)")
        }
    }

    /// Parses the TTL, at most four weeks.
    ///
    /// - Returns: Milliseconds; `nil` if absent.
    static func timeToLive(_ value: JSONValue?) throws(FCMRefusal) -> Int64? {
        guard let seconds = value?.string.flatMap(FCMShape.seconds) else { return nil }
        guard (0...2_419_200).contains(seconds) else {
            throw .badField("message.android.ttl", "Invalid ttl: must be between 0 and 2419200 seconds, inclusive")
        }
        return Int64(seconds * 1000)
    }
}
