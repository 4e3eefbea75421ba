import HTTPTypes
import HubWire
import PushBackend
import PushModel

/// Routes for users, the accounts of the app backend. Responses contain neither passwords nor their hashes.
enum UserManagement {
    static let routes: [ManagementRoute] = [
        ManagementRoute(
            .get("/api/v1/users", "listUsers", "Users with an account in the app backend, by name"),
            .server(.manage), [.top, .continuation("(?:[0-9a-f]{2})+", length: 2...1000)],
            answer: .ok("A page of users", .page(of: user))
        ) { call async throws(PushError) in
            let names = try await call.accounts.usernames(after: call.text("continuation").map(String.init(hexadecimal:)), limit: call.top)
            return call.list(names.map(json), continuation: names.count == call.top ? names.last?.hexadecimal : nil)
        },
        ManagementRoute(
            .post("/api/v1/users", "createUser", "Create an account"),
            .server(.manage), body: .object("NewUser", ["username": .username, "password": .password]),
            answer: .created("The user", user), refusals: [409],
            audit: AuditRule(.userCreate) { call, _ in (call.body["username"]?.string ?? "", [:]) }
        ) { call async throws(PushError) in
            let name = call.body["username"]?.string ?? ""
            try await call.accounts.add(username: name, password: Secret(call.body["password"]?.string ?? ""), while: call.permission)
            return call.answer(json(name), .created, location: "\(call.request.path)/\(PercentEncoding.encode(name))")
        },
        ManagementRoute(
            .put("/api/v1/users/{user}/password", "changePassword", "Change a user's password and end the user's sessions"),
            .server(.manage), body: .object("NewPassword", ["password": .password]),
            answer: ManagementRoute.Answer(status: .noContent, note: "The password was changed", schema: nil),
            audit: AuditRule(.userPassword) { call, _ in (call.name("user"), [:]) }
        ) { call async throws(PushError) in
            try await call.accounts.changePassword(
                of: call.name("user"), to: Secret(call.body["password"]?.string ?? ""), while: call.permission)
            return WebAnswer(.noContent)
        },
        ManagementRoute(
            .delete("/api/v1/users/{user}", "deleteUser", "Delete an account with the user's sessions and secure payloads"),
            .server(.manage), answer: .deleted, audit: AuditRule(.userDelete) { call, _ in (call.name("user"), [:]) }
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
        "Letters, digits and _ - @ # .; names are case-insensitive", length: 1...111,
        pattern: "[\(tagCharacters.replacing(":", with: ""))]+")
    fileprivate static let password = text("Any non-empty text", length: 1...1024)
}

extension String {
    /// The UTF-8 bytes in hexadecimal: a simple alphabet for continuation tokens that are names.
    fileprivate var hexadecimal: String { utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    fileprivate init(hexadecimal text: String) {
        let digits = text.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        self.init(decoding: stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }, as: UTF8.self)
    }
}
