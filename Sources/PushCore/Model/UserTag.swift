extension Tag {
    /// The tag of a user's devices, by which user names are compared. Throws `tag.invalid`.
    static func ofUser(_ username: String) throws(PushError) -> Tag {
        guard !username.isEmpty else {
            throw PushError("tag.invalid", "the user name is empty", hint: "name a user", status: 400)
        }
        do {
            return try Tag.username(username)
        } catch {
            throw PushError(error)
        }
    }

    /// The name of the user whose devices have it; the whole text of any other tag.
    package var username: String { isUserTag ? String(text.unicodeScalars.dropFirst("username:".unicodeScalars.count)) : text }

    /// Whether this is `username:<somebody>`, which only the app backend gives out. Looks at bytes: a mark behind the
    /// colon would hide the prefix from a comparison of characters.
    package var isUserTag: Bool { text.lowercased().utf8.starts(with: "username:".utf8) }
}
