extension Tag {
    /// The tag of a user's devices; user names are compared by it. Throws `tag.invalid`.
    package static func ofUser(_ username: String) throws(PushError) -> Tag {
        guard !username.isEmpty else {
            throw PushError("tag.invalid", "the user name is empty", hint: "name a user", status: 400)
        }
        do {
            return try Tag.username(username)
        } catch {
            throw PushError(error)
        }
    }

    /// The user's name in a user tag; the whole text of any other tag.
    package var username: String { isUserTag ? String(text.unicodeScalars.dropFirst("username:".unicodeScalars.count)) : text }

    /// Whether this is `username:NAME`, which only the app backend gives to devices. Compares bytes, because a combining mark after the
    /// colon would hide the prefix from a comparison of characters.
    package var isUserTag: Bool { text.lowercased().utf8.starts(with: "username:".utf8) }
}

extension Tag {
    /// The tag `$UserId:{…}` for a user id. Throws `tag.invalid`.
    package static func addressing(_ user: String) throws(PushError) -> Tag {
        do {
            return try Tag.user(user)
        } catch {
            throw PushError(error)
        }
    }
}
