import PushModel

/// The rules for user names and passwords.
enum AccountRules {
    static func check(_ password: Secret, of username: String) throws(PushError) {
        guard password.isEmpty else { return }
        throw PushError("auth.password", "the password of \(username) is empty", hint: "choose one", status: 400)
    }

    /// The tag `username:<name>` of a user. The name must consist of characters that tags allow.
    static func tag(of username: String) throws(PushError) -> Tag {
        guard !username.isEmpty else {
            throw PushError("auth.username", "the user name is empty", hint: "choose one", status: 400)
        }
        // Basic authentication ends the name at the first colon (RFC 7617, section 2).
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw PushError(
                "auth.username", "invalid user name \"\(username)\": it contains a colon", hint: "use letters, digits and - _ @ # .",
                status: 400)
        }
        do {
            return try Tag.username(username)
        } catch {
            let why = username.contains(where: \.isWhitespace) ? "it contains a space" : error.message.asClause
            throw PushError(
                "auth.username", "invalid user name \"\(username)\": \(why)",
                hint: "use letters, digits and - _ @ # .", status: 400)
        }
    }
}
