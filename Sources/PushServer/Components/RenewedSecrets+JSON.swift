import PushModel
import Storage

extension RenewedSecrets {
    package var json: JSON {
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
    /// Records the renewal, unless nothing was renewed.
    package func note(_ renewed: RenewedSecrets) async {
        guard !renewed.isEmpty else { return }
        var details = ["hubs": renewed.hubs.map(\.name).joined(separator: ", ")]
        if !renewed.keys.isEmpty { details["keys"] = renewed.keys.joined(separator: ", ") }
        await note(.owner, .secretsRenew, "everything", details)
    }
}
