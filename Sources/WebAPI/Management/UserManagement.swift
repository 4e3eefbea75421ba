import HTTPTypes
import HubWire
import PushCore

// Users: accounts of the app backend. No answer has a password, nor what was made of one.
extension ManagementRoute {
    static let users: [ManagementRoute] = [
        ManagementRoute(
            .get, "/api/v1/users", "listUsers", "The users who have an account with the app backend, by name", .server, .manage,
            [.top, .continuation("[\(JSONSchema.tagCharacters)]{1,111}")],
            answer: .ok("A page of users", .page(of: user))
        ) { call async throws(PushError) in
            let names = try await call.accounts.usernames(after: call.text("continuation"), limit: call.top)
            return call.list(names.map(json), continuation: names.count == call.top ? names.last : nil)
        },
        ManagementRoute(
            .post, "/api/v1/users", "createUser", "Make an account", .server, .manage,
            body: .object("NewUser", ["username": .username, "password": .password]),
            answer: .created("The user", user), refusals: [409]
        ) { call async throws(PushError) in
            let name = call.body["username"]?.string ?? ""
            try await call.accounts.add(username: name, password: Secret(call.body["password"]?.string ?? ""), while: call.permission)
            return call.answer(json(name), .created, location: "\(call.request.path)/\(PercentEncoding.encode(name))")
        },
        ManagementRoute(
            .put, "/api/v1/users/{user}/password", "changePassword", "Give a user a new password, and end the user's sessions", .server,
            .manage, body: .object("NewPassword", ["password": .password]),
            answer: ManagementRoute.Answer(status: .noContent, note: "The old one opens nothing any more", schema: nil)
        ) { call async throws(PushError) in
            try await call.accounts.changePassword(
                of: call.name("user"), to: Secret(call.body["password"]?.string ?? ""), while: call.permission)
            return WebAnswer(.noContent)
        },
        ManagementRoute(
            .delete, "/api/v1/users/{user}", "deleteUser", "Take an account away, and end the user's sessions", .server, .manage,
            answer: .deleted
        ) { call async throws(PushError) in
            try await call.accounts.remove(username: call.name("user"))
            return WebAnswer(.noContent)
        },
    ]

    private static let user = JSONSchema.object("User", ["username": .username])

    private static func json(_ name: String) -> JSON { ["username": .string(name)] }
}

extension JSONSchema {
    fileprivate static let username = text(
        "Letters, digits and _ - @ # . :; names that differ only in case are one", length: 1...111, pattern: "[\(tagCharacters)]+")
    fileprivate static let password = text("Any text that is not empty", length: 1...1024)
}
