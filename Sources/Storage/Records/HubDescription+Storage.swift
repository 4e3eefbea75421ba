import PushCore

/// `{"ttl": [seconds, attoseconds], "rules": […], "credentials": {"Apns": [["Token", "…"]]}, "metadata": "…",
///  "quotas": {"DailyOperations": 1}}`
extension HubDescription {
    var storedJSON: JSON {
        var object: JSONObject = ["rules": JSON(rules)]
        if let ttl = registrationTTL?.components { object.append("ttl", [.integer(ttl.seconds), .integer(ttl.attoseconds)]) }
        if !credentials.isEmpty {
            let properties = credentials.map { kind, credential in
                (kind.rawValue, JSON.array(credential.properties.map { [.string($0.name), .string($0.value.reveal())] }))
            }
            object.append("credentials", .object(JSONObject(properties)))
        }
        if let userMetadata { object.append("metadata", .string(userMetadata)) }
        if !quotas.isEmpty {
            object.append("quotas", .object(JSONObject(quotas.map { ($0.key.rawValue, JSON.integer($0.value)) })))
        }
        return .object(object)
    }

    init(stored json: JSON) throws {
        var credentials: [PlatformCredential.Kind: PlatformCredential] = [:]
        for (kind, properties) in try json["credentials"]?.storedObject().members ?? [] {
            credentials[try PlatformCredential.Kind(stored: kind)] = PlatformCredential(
                properties: try properties.storedArray().map { property in
                    let (name, value) = try property.storedPair()
                    return (name, Secret(value))
                })
        }
        var quotas: [Quota: Int64] = [:]
        for (quota, number) in try json["quotas"]?.storedObject().members ?? [] {
            quotas[try Quota(stored: quota)] = try number.storedInteger()
        }
        let ttl = try json["ttl"]?.storedArray().map { try $0.storedInteger() }
        guard ttl == nil || ttl?.count == 2 else { throw UnreadableValue(reason: "ttl is no pair of integers") }
        self.init(
            registrationTTL: ttl.map { Duration(secondsComponent: $0[0], attosecondsComponent: $0[1]) },
            rules: try json.required("rules").storedRules(), credentials: credentials,
            userMetadata: try json["metadata"]?.storedText(), quotas: quotas)
    }
}

extension JSON {
    init(_ rules: [AuthorizationRule]) {
        self = .array(
            rules.map { rule in
                var object: JSONObject = [
                    "name": .string(rule.name), "rights": .array(rule.rights.sorted().map { .string($0.rawValue) }),
                    "primary": .string(rule.primaryKey.reveal()), "secondary": .string(rule.secondaryKey.reveal()),
                    "created": .integer(rule.createdAt.milliseconds), "modified": .integer(rule.modifiedAt.milliseconds),
                ]
                if let ceiling = rule.ceiling { object.append("ceiling", .integer(Int64(ceiling))) }
                return .object(object)
            })
    }

    func storedRules() throws -> [AuthorizationRule] {
        try storedArray().map { rule in
            AuthorizationRule(
                name: try rule.required("name").storedText(),
                rights: Set(
                    try rule.required("rights").storedArray().map { try AuthorizationRule.Right(stored: $0.storedText()) }),
                primaryKey: Secret(try rule.required("primary").storedText()),
                secondaryKey: Secret(try rule.required("secondary").storedText()),
                createdAt: Timestamp(milliseconds: try rule.required("created").storedInteger()),
                modifiedAt: Timestamp(milliseconds: try rule.required("modified").storedInteger()),
                ceiling: try rule["ceiling"].map { Int(try $0.storedInteger()) })
        }
    }
}
