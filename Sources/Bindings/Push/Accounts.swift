import Lua
import PushModel

/// A session of the app backend, as a handle for scripts.
final class SessionObject: Sendable {
    let session: Session

    init(_ session: Session) {
        self.session = session
    }

    static let type = LuaObjectType.handle(
        "session", of: SessionObject.self, describe: { "session of \($0.session.username)" },
        properties: [
            "username": { .string($0.session.username) },
            "expires": { .string($0.session.expiration.iso8601(fraction: false)) },
        ])
}

/// Accounts and sessions of the app backend.
enum AccountBindings {
    static let account = Binding(
        "push.account", "Creates an account at the app backend if it does not exist.",
        takes: .table([
            .required("username", .string, "the user's name", mistakenFor: ["user", "name", "login"]),
            .required("password", .secret, "the user's password: push.secret(\"…\")"),
        ]),
        returns: "string", errors: ["auth.account_exists", "auth.username", "auth.password"],
        example: "push.account { username = \"alice\", password = push.secret \"demo_password\" }",
        body: .async { arguments, run in
            let username = try arguments.text("username")
            try run.store(HostCost.storedAccount, arguments)
            let state = try await run.world.backend.ensureAccount(
                username: username, password: arguments.secret("password") ?? Secret(""))
            if state == .notManaged {
                try run.log(
                    "info", "accounts are managed elsewhere on \(run.world.target.name); no account was created",
                    at: arguments.site.location)
            }
            let word =
                switch state {
                case .created: "created"
                case .exists: "exists"
                case .notManaged: "not_managed"
                }
            return word
        })

    static let login = Binding(
        "push.login", "Logs a user in at the app backend.",
        takes: .table([
            .required("username", .string, "the user's name", mistakenFor: ["user", "name", "login"]),
            .required("password", .secret, "the user's password: push.secret(\"…\")"),
        ]),
        returns: "push.Session", errors: ["auth.failed"],
        example: "local session = push.login { username = \"alice\", password = push.secret \"demo_password\" }",
        body: .async { arguments, run in
            try run.store(HostCost.storedAccount, arguments)
            let session = try await run.world.backend.login(
                username: try arguments.text("username"), password: arguments.secret("password") ?? Secret(""))
            return LuaObject(type: "session", payload: SessionObject(session))
        })

    static let logout = Binding(
        "session:logout", "Ends the session.",
        example: "session:logout()",
        body: .async { arguments, run in
            try await run.world.backend.logout(arguments.receiver(as: SessionObject.self).session)
        })

    static let sessionSend = Binding(
        "session:send", "Sends a text to a user's devices through the app backend; they show \"From <sender>: <text>\".",
        takes: .table([
            .required("to", .string, "the recipient's user name", mistakenFor: ["user", "username", "tag"]),
            .required("alert", .string, "the text", mistakenFor: ["text", "message", "body"]),
            .optional("platform", .platform, "only devices of this platform: apns, fcm, gcm, wns or browser", mistakenFor: ["pns"]),
        ]),
        returns: "push.Outcome", errors: ["auth.session_expired"],
        example: "session:send { to = \"bob\", alert = \"See you at noon\" }",
        body: .async(.sending) { arguments, run in
            let session = try arguments.receiver(as: SessionObject.self).session
            let user = try arguments.username("to")
            try run.store(HostCost.storedNotification, arguments)
            let outcome = try await run.world.backend.notify(
                session, username: user, text: try arguments.text("alert"),
                platform: try arguments.platform("platform"))
            await run.sends.note(outcome, audience: "username:\(user)", site: arguments.site)
            return OutcomeRecord(outcome, run)
        })
}

extension LuaObjectType {
    /// Creates a handle type for one Swift type, with fields that scripts can read.
    static func handle<Payload: Sendable>(
        _ name: String, of type: Payload.Type, describe: @escaping @Sendable (Payload) -> String,
        properties: [String: @Sendable (Payload) -> LuaValue] = [:]
    ) -> LuaObjectType {
        LuaObjectType(
            name: name,
            describe: { ($0 as? Payload).map(describe) ?? name },
            property: { payload, key in (payload as? Payload).flatMap { properties[key]?($0) } },
            propertyNames: properties.keys.sorted())
    }
}
