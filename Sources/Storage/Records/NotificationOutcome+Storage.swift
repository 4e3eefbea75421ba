import PushCore

// What is remarkable about a notification: `{"notices": ["…"], "pruned": {"apns": {"Unregistered": 3}}}`.
extension NotificationOutcome {
    /// Nil where there is nothing.
    var storedRemarks: JSON? {
        guard !notices.isEmpty || !pruned.isEmpty else { return nil }
        var object = JSONObject()
        if !notices.isEmpty { object.append("notices", .array(notices.map { .string($0) })) }
        if !pruned.isEmpty {
            let platforms = pruned.map { platform, reasons in
                (platform.rawValue, JSON.object(JSONObject(reasons.map { ($0.key, .integer(Int64($0.value))) })))
            }
            object.append("pruned", .object(JSONObject(platforms)))
        }
        return .object(object)
    }

    mutating func setRemarks(stored json: JSON) throws {
        notices = try json["notices"]?.storedArray().map { try $0.storedText() } ?? []
        for (platform, reasons) in try json["pruned"]?.storedObject().members ?? [] {
            var counted: [String: Int] = [:]
            for (reason, count) in try reasons.storedObject().members { counted[reason] = Int(try count.storedInteger()) }
            pruned[try Platform(stored: platform)] = counted
        }
    }
}
