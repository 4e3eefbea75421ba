import PushModel

/// The stored access rules of a hub or the namespace: the rules without their keys, and their keys, which are sealed.
struct AccessRuleRows {
    let rules: [AuthorizationRule]

    init(_ rules: [AuthorizationRule]) { self.rules = rules }

    /// - Parameter keys: nil if there are no rules.
    init(_ json: JSON, keys: JSON?) throws {
        var keyPairs: [String: (primary: String, secondary: String)] = [:]
        for entry in try keys?.storedArray() ?? [] {
            let parts = try entry.storedArray().map { try $0.storedText() }
            guard parts.count == 3 else { throw UnreadableValue(reason: "a rule does not have two keys") }
            keyPairs[parts[0]] = (parts[1], parts[2])
        }
        rules = try json.storedArray().map { rule in
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

    /// The rules without their keys.
    var json: JSON {
        .array(
            rules.map { rule in
                var object: JSONObject = [
                    "name": .string(rule.name), "rights": .array(rule.rights.sorted().map { .string($0.rawValue) }),
                    "created": .integer(rule.createdAt.milliseconds), "modified": .integer(rule.modifiedAt.milliseconds),
                ]
                if let ceiling = rule.ceiling { object.append("ceiling", .integer(Int64(ceiling))) }
                return .object(object)
            })
    }

    /// The keys of the rules, by rule name, so that a key cannot be attached to another rule by editing the unsealed part.
    var keys: JSON {
        .array(rules.map { [.string($0.name), .string($0.primaryKey.reveal()), .string($0.secondaryKey.reveal())] })
    }
}
