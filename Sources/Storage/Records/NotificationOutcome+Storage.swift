import PushModel

// Remarks on a notification: `{"notices": [{"kind": "plan_lost", …}, "…"], "pruned": {"apns": {"Unregistered": 3}}}`.
extension NotificationOutcome {
    /// Nil if there are none.
    var storedRemarks: JSON? {
        guard !notices.isEmpty || !pruned.isEmpty else { return nil }
        var object = JSONObject()
        if !notices.isEmpty { object.append("notices", .array(notices.map(\.storedJSON))) }
        if !pruned.isEmpty {
            let platforms = pruned.map { platform, reasons in
                (platform.rawValue, JSON.object(JSONObject(reasons.map { ($0.key, .integer(Int64($0.value))) })))
            }
            object.append("pruned", .object(JSONObject(platforms)))
        }
        return .object(object)
    }

    mutating func setRemarks(stored json: JSON) throws {
        notices = try json["notices"]?.storedArray().map { try Notice(stored: $0) } ?? []
        for (platform, reasons) in try json["pruned"]?.storedObject().members ?? [] {
            var counted: [String: Int] = [:]
            for (reason, count) in try reasons.storedObject().members { counted[reason] = Int(try count.storedInteger()) }
            pruned[try Platform(stored: platform)] = counted
        }
    }
}
