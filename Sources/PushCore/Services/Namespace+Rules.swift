// Keys: rules made, given new keys, and taken away one by one. `hub` is the hub's name, nil for the rules of the whole server.
extension Namespace {
    package enum Key: String, Sendable, CaseIterable { case primary, secondary }

    /// Adds a rule with two new keys. Throws `key.exists` and `key.ceiling` (409), `hub.rule` (400), `hub.not_found` (404).
    /// - Parameter ceiling: most devices that a send with it may reach without somebody else's leave.
    package func addRule(
        _ name: String, _ rights: Set<AuthorizationRule.Right>, ceiling: Int? = nil, to hub: String?, while allowed: Permission = {}
    ) async throws(PushError) -> AuthorizationRule {
        guard ceiling == nil || !rights.contains(.manage) else {
            throw PushError(
                "key.ceiling", "a key that may manage has no ceiling: it could make itself another without one",
                hint: "leave out Manage, or the ceiling; guard.ceiling of the settings holds for every key", status: 409)
        }
        // A token names its rule alone: one name for a rule of the server and one of a hub would shut somebody out. So that
        // neither is made while the other is, a hub's waits for the server's turn as well, always before that of the hub.
        if hub != nil { try await takeTurn("") }
        defer { if hub != nil { turns.leave("") } }
        var rule = newRule(name, rights)
        rule.ceiling = ceiling
        try await changeRules(of: hub, while: allowed) { [rule] rules throws(PushError) in
            let others = hub == nil ? hubs.flatMap(\.record.description.rules) : self.rules
            guard let other = (rules + others).first(where: { $0.name.lowercased() == name.lowercased() }) else {
                rules.append(rule)
                return
            }
            throw PushError(
                "key.exists", "there is a rule named \"\(other.name)\" already\(rules.contains(other) ? "" : Self.elsewhere(hub))",
                hint: "choose another name, or rotate the keys of that one", status: 409)
        }
        environment.note(.hub, "rule \(name) added")
        return rule
    }

    /// Gives a rule a new key; whoever signed with the old one is refused from now on. Throws `key.not_found` and `hub.not_found`
    /// (404).
    package func rotate(
        _ key: Key, of name: String, in hub: String?, while allowed: Permission = {}
    ) async throws(PushError) -> AuthorizationRule {
        let (fresh, now) = (newKey(), environment.clock.now)
        let rule = try await changeRules(of: hub, while: allowed) { rules throws(PushError) in
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

    /// Takes a rule away with both its keys. Throws `key.not_found` and `hub.not_found` (404), and `key.last` (409) for the last
    /// one that may manage the server.
    package func removeRule(_ name: String, from hub: String?, while allowed: Permission = {}) async throws(PushError) {
        try await changeRules(of: hub, while: allowed) { rules throws(PushError) in
            rules.remove(at: try Self.index(of: name, in: rules))
            guard hub != nil || rules.contains(where: { $0.allows(.manage) }) else {
                throw PushError(
                    "key.last", "\"\(name)\" is the last rule that may manage the server",
                    hint: "make another rule with Manage first, or rotate the keys of this one", status: 409)
            }
        }
        environment.note(.hub, "rule \(name) removed")
    }

    private static func elsewhere(_ hub: String?) -> String { hub == nil ? " in a hub" : ", which holds for all hubs" }

    private static func index(of name: String, in rules: [AuthorizationRule]) throws(PushError) -> Int {
        if let index = rules.firstIndex(where: { $0.name == name }) { return index }
        throw PushError(
            "key.not_found", "there is no rule named \"\(name)\"",
            hint: nearest(name, in: rules.map(\.name)).map { "did you mean \($0)?" } ?? "list the keys to see which there are",
            status: 404)
    }
}
