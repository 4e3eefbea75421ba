import PushModel

/// A stored hub. Its description is JSON, and its secrets are separate JSON, which is sealed:
///
/// `{"ttl": [seconds, attoseconds], "rules": […], "platforms": ["Apns"], "metadata": "…", "quotas": {"DailyOperations": 1}}`, and
/// `{"rules": [["name", "primary", "secondary"]], "credentials": {"Apns": [["Token", "…"]]}}`
struct HubRow {
    /// The columns that `init(_:_:)` reads.
    static let columns = "number, name, description, created_at, updated_at, secrets"

    let hub: HubRecord

    init(_ hub: HubRecord) { self.hub = hub }

    init(_ row: some SQLRow, _ seal: SecretSeal) throws {
        hub = try reading("hub \(row.integer(0))") {
            let secrets = try seal.json(row.optional(5, row.bytes), of: .hub(row.integer(0)))
            return HubRecord(
                number: row.integer(0), name: row.text(1), description: try Self.description(row.json(2), secrets),
                createdAt: row.time(3), updatedAt: row.time(4))
        }
    }

    private static func description(_ json: JSON, _ secrets: JSON) throws -> HubDescription {
        var credentials: [PlatformCredential.Kind: PlatformCredential] = [:]
        for (kind, properties) in try secrets["credentials"]?.storedObject().members ?? [] {
            credentials[try PlatformCredential.Kind(stored: kind)] = PlatformCredential(
                properties: try properties.storedArray().map { property in
                    let (name, value) = try property.storedPair()
                    return (name, Secret(value))
                })
        }
        var quotas: [HubDescription.Quota: Int64] = [:]
        for (quota, number) in try json["quotas"]?.storedObject().members ?? [] {
            quotas[try HubDescription.Quota(stored: quota)] = try number.storedInteger()
        }
        let ttl = try json["ttl"]?.storedArray().map { try $0.storedInteger() }
        guard ttl == nil || ttl?.count == 2 else { throw UnreadableValue(reason: "ttl is not a pair of integers") }
        return HubDescription(
            registrationTTL: ttl.map { Duration(secondsComponent: $0[0], attosecondsComponent: $0[1]) },
            rules: try AccessRuleRows(json.required("rules"), keys: secrets["rules"]).rules, credentials: credentials,
            userMetadata: try json["metadata"]?.storedText(), quotas: quotas)
    }

    /// Everything except secrets.
    var description: JSON {
        let hub = hub.description
        var object: JSONObject = ["rules": AccessRuleRows(hub.rules).json]
        if let ttl = hub.registrationTTL?.components {
            object.append("ttl", [.integer(ttl.seconds), .integer(ttl.attoseconds)])
        }
        if !hub.credentials.isEmpty {
            object.append("platforms", .array(hub.credentials.keys.map(\.rawValue).sorted().map(JSON.string)))
        }
        if let userMetadata = hub.userMetadata { object.append("metadata", .string(userMetadata)) }
        if !hub.quotas.isEmpty {
            object.append("quotas", .object(JSONObject(hub.quotas.map { ($0.key.rawValue, JSON.integer($0.value)) })))
        }
        return .object(object)
    }

    /// The secrets, which are sealed before they are stored.
    var secrets: JSON {
        var object: JSONObject = ["rules": AccessRuleRows(hub.description.rules).keys]
        if !hub.description.credentials.isEmpty {
            let properties = hub.description.credentials.map { kind, credential in
                (kind.rawValue, JSON.array(credential.properties.map { [.string($0.name), .string($0.value.reveal())] }))
            }
            object.append("credentials", .object(JSONObject(properties)))
        }
        return .object(object)
    }
}
