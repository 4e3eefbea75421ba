/// A syntax error in a tag expression.
package struct TagExpressionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The rejected text.
    package let text: String
    /// In characters, from 1; one past the end if something is missing there.
    package let position: Int
    package let message: String
    /// What to write instead, if that can be guessed.
    package let hint: String?

    package init(text: String, position: Int, message: String, hint: String?) {
        self.text = text
        self.position = position
        self.message = message
        self.hint = hint
    }

    package var description: String {
        "\(message) (character \(position) of \"\(text)\")" + (hint.map { " \($0)" } ?? "")
    }
}
