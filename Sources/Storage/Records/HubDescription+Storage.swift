import PushModel

/// `{"ttl": [seconds, attoseconds], "rules": […], "platforms": ["Apns"], "metadata": "…", "quotas": {"DailyOperations": 1}}`, and
/// separately, sealed: `{"rules": [["name", "primary", "secondary"]], "credentials": {"Apns": [["Token", "…"]]}}`
extension HubDescription {
    /// Everything except secrets.
    var storedJSON: JSON {
        var object: JSONObject = ["rules": JSON(rules)]
        if let ttl = registrationTTL?.components { object.append("ttl", [.integer(ttl.seconds), .integer(ttl.attoseconds)]) }
        if !credentials.isEmpty { object.append("platforms", .array(credentials.keys.map(\.rawValue).sorted().map(JSON.string))) }
        if let userMetadata { object.append("metadata", .string(userMetadata)) }
        if !quotas.isEmpty {
            object.append("quotas", .object(JSONObject(quotas.map { ($0.key.rawValue, JSON.integer($0.value)) })))
        }
        return .object(object)
    }

    /// The secrets, which are sealed before they are stored.
    var storedSecrets: JSON {
        var object: JSONObject = ["rules": JSON(keysOf: rules)]
        if !credentials.isEmpty {
            let properties = credentials.map { kind, credential in
                (kind.rawValue, JSON.array(credential.properties.map { [.string($0.name), .string($0.value.reveal())] }))
            }
            object.append("credentials", .object(JSONObject(properties)))
        }
        return .object(object)
    }

    init(stored json: JSON, secrets: JSON) throws {
        var credentials: [PlatformCredential.Kind: PlatformCredential] = [:]
        for (kind, properties) in try secrets["credentials"]?.storedObject().members ?? [] {
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
        guard ttl == nil || ttl?.count == 2 else { throw UnreadableValue(reason: "ttl is not a pair of integers") }
        self.init(
            registrationTTL: ttl.map { Duration(secondsComponent: $0[0], attosecondsComponent: $0[1]) },
            rules: try json.required("rules").storedRules(keys: secrets["rules"]), credentials: credentials,
            userMetadata: try json["metadata"]?.storedText(), quotas: quotas)
    }
}

extension JSON {
    /// The rules without their keys.
    init(_ rules: [AuthorizationRule]) {
        self = .array(
            rules.map { rule in
                var object: JSONObject = [
                    "name": .string(rule.name), "rights": .array(rule.rights.sorted().map { .string($0.rawValue) }),
                    "created": .integer(rule.createdAt.milliseconds), "modified": .integer(rule.modifiedAt.milliseconds),
                ]
                if let ceiling = rule.ceiling { object.append("ceiling", .integer(Int64(ceiling))) }
                return .object(object)
            })
    }

    /// The keys of rules, by rule name, so that a key cannot be attached to another rule by editing the unsealed part.
    init(keysOf rules: [AuthorizationRule]) {
        self = .array(rules.map { [.string($0.name), .string($0.primaryKey.reveal()), .string($0.secondaryKey.reveal())] })
    }

    /// - Parameter keys: nil if there are no rules.
    func storedRules(keys: JSON?) throws -> [AuthorizationRule] {
        var keyPairs: [String: (primary: String, secondary: String)] = [:]
        for entry in try keys?.storedArray() ?? [] {
            let parts = try entry.storedArray().map { try $0.storedText() }
            guard parts.count == 3 else { throw UnreadableValue(reason: "a rule does not have two keys") }
            keyPairs[parts[0]] = (parts[1], parts[2])
        }
        return try storedArray().map { rule in
            let name = try rule.required("name").storedText()
            guard let pair = keyPairs[name] else { throw UnreadableValue(reason: "the keys of the rule \"\(name)\" are missing") }
            return AuthorizationRule(
                name: name,
                rights: Set(
                    try rule.required("rights").storedArray().map { try AuthorizationRule.Right(stored: $0.storedText()) }),
                primaryKey: Secret(pair.primary), secondaryKey: Secret(pair.secondary),
                createdAt: Timestamp(milliseconds: try rule.required("created").storedInteger()),
                modifiedAt: Timestamp(milliseconds: try rule.required("modified").storedInteger()),
                ceiling: try rule["ceiling"].map { Int(try $0.storedInteger()) })
        }
    }
}
