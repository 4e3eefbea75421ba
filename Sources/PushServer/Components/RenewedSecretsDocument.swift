package import PushModel
package import Storage

/// The renewed secrets as the commands receive them.
package struct RenewedSecretsDocument: Sendable {
    package let json: JSON

    package init(_ renewed: RenewedSecrets) {
        json = [
            "keys": .array(renewed.keys.map(JSON.string)),
            "hubs": .array(
                renewed.hubs.map { hub in
                    [
                        "name": .string(hub.name), "keys": .array(hub.keys.map(JSON.string)),
                        "credentials": .array(hub.credentials.map(JSON.string)),
                    ]
                }), "tokens": .integer(Int64(renewed.tokens)),
            "values": .object(JSONObject(renewed.values.sorted { $0.key < $1.key }.map { ($0.key, .integer(Int64($0.value))) })),
            "jobs": .integer(Int64(renewed.jobs)),
        ]
    }
}
