import Lua

/// The keys of notifications, and which of them may be combined.
enum NotificationKeys {
    /// Checks which keys of a notification may be combined. Used by every way of sending. Throws `send.audience`, `send.no_audience`,
    /// `send.no_content`.
    static let notificationConstraint: CallForm.Constraint = { keys, name throws(LuaError) in
        try requireAudience(keys, name)
        try requireContent(keys, name)
    }

    /// Keys of which a notification has exactly one.
    static let notificationContents = ["alert", "properties", "payload"]

    private static func requireAudience(_ keys: Set<String>, _ name: String) throws(LuaError) {
        if keys.isSuperset(of: ["to", "device"]) {
            throw .misuse(
                "send.audience", "\(name): \"to\" and \"device\" cannot be combined", hint: "keep one of them",
                details: ["key": .string("device")])
        }
        if keys.isDisjoint(with: ["to", "device"]) { throw noAudience(name) }
    }

    static func noAudience(_ name: String) -> LuaError {
        .misuse(
            "send.no_audience", "\(name) needs \"to\": there is no default audience",
            hint: "write to = push.tag.user \"alice\", to = \"Sports && !muted\", or to = push.everyone")
    }

    /// The check for sends of a plan, which has an audience and may have content.
    static let planConstraint: CallForm.Constraint = { keys, name throws(LuaError) in
        if let other = ["to", "device", "test"].first(where: keys.contains) {
            throw .misuse(
                "send.audience", "\(name): \"plan\" and \"\(other)\" cannot be combined",
                hint: "the plan has an audience; use one of them",
                details: ["key": .string(other)])
        }
        if !keys.isDisjoint(with: notificationContents + ["title", "headers"]) { try requireContent(keys, name) }
    }

    static let unplannedConstraint: CallForm.Constraint = { keys, name throws(LuaError) in
        if keys.contains("tolerance") {
            throw .misuse(
                "send.audience", "\(name): \"tolerance\" is only allowed with \"plan\"", hint: "leave it out, or name a plan",
                details: ["key": .string("tolerance")])
        }
        try notificationConstraint(keys, name)
    }

    static func requireContent(_ keys: Set<String>, _ name: String) throws(LuaError) {
        let given = notificationContents.filter(keys.contains)
        guard given.count == 1, let kind = given.first else {
            let names = given.map { "\"\($0)\"" }.joined(separator: " and ")
            throw .misuse(
                "send.no_content",
                given.isEmpty
                    ? "\(name) needs one of \"alert\", \"properties\" and \"payload\""
                    : "\(name) needs exactly one of \"alert\", \"properties\" and \"payload\", got \(names)",
                hint: "alert shows a text, properties fill templates, payload is written per platform")
        }
        if keys.contains("title"), kind != "alert" {
            throw .misuse(
                "send.no_content", "\(name): \"title\" is only allowed with \"alert\"", hint: "put it into the \(kind)",
                details: ["key": .string("title")])
        }
        if keys.contains("headers"), kind == "properties" {
            throw .misuse(
                "send.no_content", "\(name): \"headers\" are not allowed with \"properties\"",
                hint: "set headers in the template; expires_in, priority and collapse_id are always allowed",
                details: ["key": .string("headers")])
        }
    }
}
