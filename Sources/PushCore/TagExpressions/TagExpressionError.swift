/// Why a text is not a tag expression.
package struct TagExpressionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text that was refused.
    package let text: String
    /// 1-based, in characters; one past the end when something is missing there.
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
