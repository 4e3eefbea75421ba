import PushModel
import PushRuntime

/// Prints sends that await approval, as a table or one in detail.
enum ApprovalReport {
    static func table(_ approvals: [JSON]) -> TextTable {
        var table = TextTable("ID", "STATE", "#DEVICES", "HUB", "AUDIENCE", "REQUESTED BY", "NOTE", "EXPIRES")
        for one in approvals {
            table.add(
                text(one, "id"), text(one, "state"), devices(one), text(one, "hub"), text(one, "audience"), text(one, "requestedBy"),
                text(one, "note"), text(one, "expiresAt"))
        }
        return table
    }

    static func lines(_ approval: JSON, _ palette: Palette) -> [String] {
        let platforms = (approval["platforms"]?.object?.members ?? []).map { "\($0.key) \($0.value.int?.grouped ?? "")" }
        var rows: [(String, String)] = [
            ("state", text(approval, "state")), ("hub", text(approval, "hub")), ("to", text(approval, "audience")),
            ("devices", "\(devices(approval)): \(platforms.joined(separator: ", "))"), ("cause", text(approval, "why")),
            ("requester", "\(text(approval, "requestedBy")) at \(text(approval, "createdAt"))"),
        ]
        if approval["note"] != nil { rows.append(("note", text(approval, "note"))) }
        rows.append(("due", approval["at"]?.string ?? "when approved"))
        rows.append(("content", text(approval, "content")))
        for name in ["message", "native"] {
            for (key, value) in approval[name]?.object?.members ?? [] { rows.append(("  \(key)", shortened(value.string ?? ""))) }
        }
        if let who = approval["decidedBy"]?.string {
            rows.append(("decided", "by \(who) at \(text(approval, "decidedAt"))"))
            if approval["reason"] != nil { rows.append(("reason", text(approval, "reason"))) }
        } else {
            rows.append(("expires", text(approval, "expiresAt")))
        }
        if approval["failure"] != nil { rows.append(("failed", text(approval, "failure"))) }
        if approval["notificationId"] != nil { rows.append(("sent as", text(approval, "notificationId"))) }
        return [palette.bold("approval \(text(approval, "id"))")]
            + rows.map { "  \($0.0.padded(to: 10))\($0.1)".printable }
    }

    static func body(_ reason: String?) -> JSON { reason.map { ["reason": .string($0)] } ?? .object(JSONObject()) }

    private static func text(_ json: JSON, _ name: String) -> String { json[name]?.string ?? "" }

    private static func devices(_ json: JSON) -> String {
        json["isReachUnknown"]?.bool == true ? "unknown" : json["devices"]?.int?.grouped ?? ""
    }

    private static func shortened(_ text: String) -> String { text.count <= 2000 ? text : "\(text.prefix(1999))…" }
}
