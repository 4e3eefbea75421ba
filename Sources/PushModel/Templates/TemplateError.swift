/// An error in a template.
package struct TemplateError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// An expression is invalid.
        case syntax = "template.syntax"
        /// The template is neither JSON nor XML.
        case format = "template.format"
        /// The JSON or XML is malformed.
        case document = "template.document"
    }

    package let code: String
    package let message: String
    /// What to write instead, if known.
    package let hint: String?
    /// In UTF-8 bytes in the body, from 0.
    package let offset: Int
    /// In the body, from 1.
    package let line: Int
    /// In the body, in characters, from 1.
    package let column: Int
    /// The whole value that contains the invalid expression, for `template.syntax`.
    package let expression: String?

    init(
        _ code: Code, _ message: String, hint: String? = nil, at offset: Int, in bytes: [UInt8],
        expression: String? = nil
    ) {
        let position = TextPosition(of: offset, in: bytes)
        self.code = code.rawValue
        self.message = message
        self.hint = hint
        self.offset = offset
        line = position.line
        column = position.column
        self.expression = expression
    }

    package var description: String {
        "\(message) (line \(line), column \(column))" + (hint.map { " \($0)" } ?? "")
    }
}
