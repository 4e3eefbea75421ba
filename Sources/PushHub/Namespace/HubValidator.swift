package import PushModel

/// Validates hubs and rules before they are created or changed.
package struct HubValidator: Sendable {
    /// Throws if the server does not allow a hub with this description.
    /// - Parameter before: the previous description; nil for a new hub.
    package typealias Admission = @Sendable (HubDescription, _ before: HubDescription?) throws(PushError) -> Void

    let admits: Admission

    func check(_ description: HubDescription, before: HubDescription?) throws(PushError) {
        try Self.check(description)
        try admits(description, before)
    }

    /// Rejects new hub rules that have the name of a server rule. A token names only its rule, so such a rule could never be used.
    static func check(
        _ rules: [AuthorizationRule], before: [AuthorizationRule], besides serverRules: [AuthorizationRule]
    ) throws(PushError) {
        let shared = Set(serverRules.map { $0.name.lowercased() }).subtracting(before.map { $0.name.lowercased() })
        if let clash = rules.first(where: { shared.contains($0.name.lowercased()) }) {
            throw PushError(
                "hub.rule", "the server has a rule named \"\(clash.name)\", which applies to all hubs", hint: "choose another name",
                status: 400)
        }
    }

    /// First path segments that the server uses.
    private static let reservedNames: Set<String> = [
        "$resources", "api", "health", "metrics", "openapi.json", "feedback", "plugins", "flows",
    ]
    /// Path segments that a hub's routes use.
    private static let routeWords: Set<String> = [
        "registrations", "registrationids", "installations", "messages", "schedulednotifications", "tags",
        "feedbackcontainer", "jobs", "api",
    ]

    /// Throws `hub.name` if the text cannot be the name of a hub.
    package static func check(_ name: String) throws(PushError) {
        func refuse(_ why: String, _ hint: String) -> PushError {
            PushError("hub.name", "invalid hub name \"\(name)\": \(why)", hint: hint, status: 400)
        }
        let parts = name.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        guard (1...260).contains(name.count) else { throw refuse("it has \(name.count) characters", "use 1 to 260") }
        guard
            parts.allSatisfy({ part in
                !part.isEmpty && part.utf8.allSatisfy(\.isHubNameCharacter) && part.first?.isPunctuation == false
            })
        else {
            throw refuse(
                "it has invalid characters",
                "use letters, digits and - . _, with / between parts that begin with a letter or digit")
        }
        guard !reservedNames.contains(String(parts[0])), !parts.starts(with: ["lab", "sessions"]) else {
            throw refuse("the server uses this path", "choose another name")
        }
        if let word = parts.first(where: { routeWords.contains(String($0)) }) {
            throw refuse("\"\(word)\" is part of the hub's own paths", "choose another name")
        }
    }

    static func check(_ description: HubDescription) throws(PushError) {
        try check(description.rules)
        if let ttl = description.registrationTTL, ttl < .seconds(86_400) {
            throw PushError(
                "hub.ttl", "the time to live of registrations is \(ttl.short); the minimum is one day", hint: "give P1D or more",
                status: 400)
        }
        if let metadata = description.userMetadata, metadata.count > 1024 {
            throw PushError(
                "hub.metadata", "the user metadata has \(metadata.count) characters; the limit is 1,024",
                hint: "shorten it", status: 400)
        }
    }

    static func check(_ rules: [AuthorizationRule]) throws(PushError) {
        var names: Set<String> = []
        for rule in rules {
            guard (1...256).contains(rule.name.count), rule.name.utf8.allSatisfy(\.isHubNameCharacter) else {
                throw PushError(
                    "hub.rule", "\"\(rule.name)\" cannot be the name of a rule",
                    hint: "use up to 256 letters, digits and - . _", status: 400)
            }
            guard names.insert(rule.name.lowercased()).inserted else {
                throw PushError("hub.rule", "there are two rules named \"\(rule.name)\"", hint: "keep one", status: 400)
            }
            guard !rule.rights.isEmpty else {
                throw PushError(
                    "hub.rule", "the rule \"\(rule.name)\" has no rights", hint: "give Listen, Send or Manage", status: 400)
            }
            for key in [rule.primaryKey, rule.secondaryKey] where !SharedAccessKey.isValid(key.reveal()) {
                throw PushError(
                    "hub.rule", "a key of the rule \"\(rule.name)\" is not 32 bytes in base64",
                    hint: "omit the keys to get new ones, or give 44 characters of which the last is =", status: 400)
            }
        }
    }
}

extension HubDescription {
    /// The description with the times at which its rules were created and modified. Clients cannot choose them.
    func dated(_ now: Timestamp, before: HubDescription?) -> HubDescription {
        var dated = self
        dated.rules = rules.map { rule in
            var rule = rule
            let old = before?.rules.first { $0.name == rule.name }
            rule.createdAt = old?.createdAt ?? now
            rule.modifiedAt = old?.modifiedAt ?? now
            // Azure's description of a hub has no ceilings, so existing ones are preserved.
            rule.ceiling = rule.allows(.manage) ? nil : old?.ceiling
            if let old, rule != old { rule.modifiedAt = now }
            return rule
        }
        return dated
    }
}

extension UInt8 {
    fileprivate var isHubNameCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }
}
