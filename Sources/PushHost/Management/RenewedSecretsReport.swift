import PushCore
import Storage

/// What was put in the place of secrets that do not open, for people and for programs.
struct RenewedSecretsReport {
    /// `{"keys": ["…"], "hubs": [{"name", "keys", "credentials"}], "tokens": 1, "values": {"plugin": 2}, "jobs": 0}`
    let json: JSON

    var isEmpty: Bool { json == RenewedSecrets().json }

    func lines() -> [String] {
        var lines: [String] = []
        if let keys = json["keys"]?.array, !keys.isEmpty { lines.append("access keys of the server are new: \(json.words("keys"))") }
        for hub in json["hubs"]?.array ?? [] {
            let name = hub["name"]?.string ?? ""
            lines.append("access keys of the hub \(name) are new: \(hub.words("keys"))")
            if hub["credentials"]?.array?.isEmpty == false {
                lines.append("push credentials of the hub \(name) were removed: \(hub.words("credentials"))")
            }
        }
        for (space, count) in json["values"]?.object?.members ?? [] {
            lines.append("stored values of the plugin \(space) were removed: \(count.int ?? 0)")
        }
        if let jobs = json["jobs"]?.int, jobs > 0 { lines.append("import and export jobs without their addresses: \(jobs)") }
        guard !lines.isEmpty else { return [] }
        return lines.map { "  \($0)".printable } + ["  next: pushhost key list --reveal, and pushhost hub credentials set"]
    }
}

extension RenewedSecrets {
    var json: JSON {
        [
            "keys": .array(keys.map(JSON.string)),
            "hubs": .array(
                hubs.map { hub in
                    [
                        "name": .string(hub.name), "keys": .array(hub.keys.map(JSON.string)),
                        "credentials": .array(hub.credentials.map(JSON.string)),
                    ]
                }), "tokens": .integer(Int64(tokens)),
            "values": .object(JSONObject(values.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })),
            "jobs": .integer(Int64(jobs)),
        ]
    }
}

extension AuditLog {
    /// Nothing where nothing was renewed.
    func note(_ renewed: RenewedSecrets) async {
        guard !renewed.isEmpty else { return }
        var details = ["hubs": renewed.hubs.map(\.name).joined(separator: ", ")]
        if !renewed.keys.isEmpty { details["keys"] = renewed.keys.joined(separator: ", ") }
        await note(.owner, .secretsRenew, "everything", details)
    }
}
