import PushModel
import PushRuntime
import PushServer
import Storage

/// Reports which secrets were renewed or removed, as text and as JSON.
struct RenewedSecretsReport {
    /// `{"keys": ["…"], "hubs": [{"name", "keys", "credentials"}], "tokens": 1, "values": {"plugin": 2}, "jobs": 0}`
    let json: JSON

    var isEmpty: Bool { json == RenewedSecretsDocument(RenewedSecrets()).json }

    func lines() -> [String] {
        var lines: [String] = []
        if let keys = json["keys"]?.array, !keys.isEmpty { lines.append("new access keys of the server: \(json.words("keys"))") }
        for hub in json["hubs"]?.array ?? [] {
            let name = hub["name"]?.string ?? ""
            lines.append("new access keys of hub \"\(name)\": \(hub.words("keys"))")
            if hub["credentials"]?.array?.isEmpty == false {
                lines.append("removed push credentials of hub \"\(name)\": \(hub.words("credentials"))")
            }
        }
        for (space, count) in json["values"]?.object?.members ?? [] {
            lines.append("removed stored values of the plugin \(space): \(count.int ?? 0)")
        }
        if let jobs = json["jobs"]?.int, jobs > 0 { lines.append("import and export jobs that lost their addresses: \(jobs)") }
        guard !lines.isEmpty else { return [] }
        return lines.map { "  \($0)".printable } + ["  next: pushhost key list --reveal, and pushhost hub credentials set"]
    }
}
