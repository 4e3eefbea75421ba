import PushModel
import PushRuntime

/// Hubs as text.
enum HubReport {
    /// - Parameter hubs: as `GET /api/v1/hubs` returns them.
    static func table(_ hubs: [JSON]) -> TextTable {
        var table = TextTable("HUB", "#REGISTRATIONS", "#INSTALLATIONS", "#PENDING NOTIFICATIONS", "PUSH SERVICES")
        for hub in hubs {
            table.add(
                hub["name"]?.string ?? "", hub.number("registrations"), hub.number("installations"), hub.number("waiting"),
                hub.words("pushServices"))
        }
        return table
    }

    /// The issues of a hub with push services, a sentence each.
    static func issues(of hub: JSON) -> [String] {
        let credentials = hub["credentials"]?.array ?? []
        return (hub["troubles"]?.array ?? []).map { issue in
            let platform = issue["platform"]?.string.flatMap { Platform(shortName: $0) }?.displayName ?? "a push service"
            let address = (issue["origin"] ?? credentials.first { $0["platform"] == issue["platform"] }?["address"])?.string
            let finding = issue["reason"]?.string.map { "rejects the hub's credential (\($0))" } ?? "does not respond"
            let words =
                issue["mixUp"]?.string
                ?? "\(address.map { "\($0) " } ?? "")\(finding); next attempt at \(issue["nextTryAt"]?.string ?? "an unknown time")"
            return "\(platform): \(words)"
        }
    }
}
