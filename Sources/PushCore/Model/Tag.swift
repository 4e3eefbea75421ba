/// A word that devices are registered with and that notifications are addressed to.
///
/// Azure's grammar: one or more letters, digits and `_ - @ # . :`, or one of the two forms the hub itself gives out,
/// `$InstallationId:{…}` and `$UserId:{…}`, which may also hold `=` between the braces. At most 120 characters.
/// Tags that differ only in case are equal; the spelling as given is kept for display.
package struct Tag: Hashable, Sendable, CustomStringConvertible {
    /// Most characters in a tag, counted in UTF-16 units as .NET does.
    package static let maximumLength = 120

    /// The tag as it was given.
    package let text: String
    /// Lower-cased; shares its storage with `text` where that is lower case already.
    let key: String

    /// - Throws: `TagError` with the first character that does not fit.
    package init(_ text: String) throws(TagError) {
        if let flaw = TagGrammar.flaw(in: text) { throw flaw }
        self.text = text
        let folded = text.lowercased()
        key = folded == text ? text : folded
    }

    /// The tag, or `nil` where `init(_:)` throws.
    package init?(validating text: String) {
        guard let tag = try? Tag(text) else { return nil }
        self = tag
    }

    package var description: String { text }

    package static func == (left: Tag, right: Tag) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// `username:alice`, the tag the app backend gives every device of a user.
    package static func username(_ name: String) throws(TagError) -> Tag { try Tag("username:\(name)") }

    /// `$InstallationId:{id}`, which every installation has.
    package static func installation(_ id: String) throws(TagError) -> Tag { try Tag("$InstallationId:{\(id)}") }

    /// `$UserId:{id}`, which every installation with a user has.
    package static func user(_ id: String) throws(TagError) -> Tag { try Tag("$UserId:{\(id)}") }
}

/// Why a text is not a tag.
package struct TagError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text that was refused.
    package let text: String
    /// 1-based, in characters; one past the end when something is missing there.
    package let position: Int
    package let message: String
    /// What to write instead, if that can be said.
    package let hint: String?

    package var description: String {
        "\(message) (character \(position) of \"\(text)\")" + (hint.map { " \($0)" } ?? "")
    }
}
