package import PushModel

/// Adds, rotates and removes the rules of a namespace. `hub` is the name of a hub; nil for the rules of the whole server.
package struct RuleEditor: Sendable {
    let namespace: Namespace
    private var environment: HubEnvironment { namespace.environment }

    package enum Key: String, Sendable, CaseIterable { case primary, secondary }

    /// Adds a rule with two new keys. Throws `key.exists` and `key.ceiling` (409), `hub.rule` (400), `hub.not_found` (404).
    /// - Parameter ceiling: maximum number of devices per send without approval.
    package func add(
        _ name: String, _ rights: Set<AuthorizationRule.Right>, ceiling: Int? = nil, to hub: String?,
        while allowed: Namespace.Permission = {}
    ) async throws(PushError) -> AuthorizationRule {
        guard ceiling == nil || !rights.contains(.manage) else {
            throw PushError(
                "key.ceiling", "a key with Manage cannot have a ceiling: it could create another key without one",
                hint: "omit Manage or the ceiling; the setting guard.ceiling applies to every key", status: 409)
        }
        var rule = namespace.newRule(name, rights)
        rule.ceiling = ceiling
        // A token names only its rule, so a server rule and a hub rule must not have the same name.
        try await namespace.changeRules(of: hub, holdingServer: true, while: allowed) { [rule, namespace] rules throws(PushError) in
            let others = hub == nil ? namespace.hubs.flatMap(\.record.description.rules) : namespace.rules
            guard let other = (rules + others).first(where: { $0.name.lowercased() == name.lowercased() }) else {
                rules.append(rule)
                return
            }
            throw PushError(
                "key.exists", "key \"\(other.name)\" already exists\(rules.contains(other) ? "" : Self.elsewhere(hub))",
                hint: "choose another name, or run pushhost key rotate \(other.name)", status: 409)
        }
        environment.note(.hub, "rule \(name) added")
        return rule
    }

    /// Replaces a key of a rule. Tokens signed with the old key are rejected from now on. Throws `key.not_found` and `hub.not_found`
    /// (404).
    package func rotate(
        _ key: Key, of name: String, in hub: String?, while allowed: Namespace.Permission = {}
    ) async throws(PushError) -> AuthorizationRule {
        let (fresh, now) = (namespace.newKey(), environment.clock.now)
        let rule = try await namespace.changeRules(of: hub, while: allowed) { rules throws(PushError) in
            let index = try Self.index(of: name, in: rules)
            switch key {
            case .primary: rules[index].primaryKey = fresh
            case .secondary: rules[index].secondaryKey = fresh
            }
            rules[index].modifiedAt = now
            return rules[index]
        }
        environment.note(.hub, "rule \(name): new \(key.rawValue) key")
        return rule
    }

    /// Removes a rule and its keys. Throws `key.not_found` and `hub.not_found` (404), and `key.last` (409) for the last server rule with
    /// Manage.
    package func remove(_ name: String, from hub: String?, while allowed: Namespace.Permission = {}) async throws(PushError) {
        try await namespace.changeRules(of: hub, while: allowed) { rules throws(PushError) in
            rules.remove(at: try Self.index(of: name, in: rules))
            guard hub != nil || rules.contains(where: { $0.allows(.manage) }) else {
                throw PushError(
                    "key.last", "key \"\(name)\" is the last key of the server with Manage; not removed",
                    hint: "create another key with Manage first, or run pushhost key rotate \(name)", status: 409)
            }
        }
        environment.note(.hub, "rule \(name) removed")
    }

    private static func elsewhere(_ hub: String?) -> String { hub == nil ? " in a hub" : ", which applies to all hubs" }

    private static func index(of name: String, in rules: [AuthorizationRule]) throws(PushError) -> Int {
        if let index = rules.firstIndex(where: { $0.name == name }) { return index }
        throw PushError(
            "key.not_found", "unknown key \"\(name)\"",
            hint: nearest(name, in: rules.map(\.name)).map { "did you mean \"\($0)\"?" } ?? "see all keys with pushhost key list",
            status: 404)
    }
}
