/// A label that devices register with and notifications are addressed to.
///
/// Azure's grammar: letters, digits and `_ - @ # . :`, or one of the two forms that only the hub gives to devices, `$InstallationId:{…}`
/// and `$UserId:{…}`, which may also contain `=` between the braces. 1 to 120 characters. Tags that differ only in case are equal; the
/// original spelling is kept for display.
package struct Tag: Hashable, Sendable, CustomStringConvertible {
    /// Maximum number of characters, counted in UTF-16 units as .NET does.
    package static let maximumLength = 120

    /// The tag as given.
    package let text: String
    /// The text in lower case. Shares storage with `text` if that is already lower case.
    package let key: String

    /// - Throws: `TagError` with the first character that is not allowed.
    package init(_ text: String) throws(TagError) {
        if let flaw = TagGrammar.flaw(in: text) { throw flaw }
        self.text = text
        let folded = Self.folded(text)
        key = folded == text ? text : folded
    }

    /// The tag; nil for a text that is not one.
    package init?(validating text: String) {
        guard let tag = try? Tag(text) else { return nil }
        self = tag
    }

    package var description: String { text }

    /// The text without differences in case. Tags are equal if their folded texts are.
    package static func folded(_ text: String) -> String { text.lowercased() }

    package static func == (left: Tag, right: Tag) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// `username:alice`: the tag that the app backend gives to every device of a user.
    package static func username(_ name: String) throws(TagError) -> Tag { try Tag("username:\(name)") }

    /// `$InstallationId:{id}`: the tag of every installation.
    package static func installation(_ id: String) throws(TagError) -> Tag { try Tag("$InstallationId:{\(id)}") }

    /// `$UserId:{id}`: the tag of every installation with a user.
    package static func user(_ id: String) throws(TagError) -> Tag { try Tag("$UserId:{\(id)}") }
}

/// An error in the text of a tag.
package struct TagError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The rejected text.
    package let text: String
    /// In characters, from 1; one past the end if something is missing there.
    package let position: Int
    package let message: String
    /// What to write instead, if known.
    package let hint: String?

    package var description: String {
        "\(message) (character \(position) of \"\(text)\")" + (hint.map { " \($0)" } ?? "")
    }
}
