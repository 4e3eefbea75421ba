/// An expression that stands inside the text of a template's value, such as `Hi $(name)`. Azure replaces an expression only where it is
/// the whole value, so the phone shows it as it is written. It is valid, and almost never meant.
package struct ExpressionInText: Sendable, Equatable {
    /// The value: `Hi $(name)`.
    package let text: String
    /// The first expression in it: `$(name)`.
    package let expression: String
    /// What to write instead: `{'Hi ' + $(name)}`.
    package let replacement: String
    /// Of the expression, in UTF-8 bytes within the body.
    package let offset: Int

    /// Code of the warning.
    package static let code = "template.text"

    package var message: String {
        "the template's text \"\(text.shortened)\" is shown as it is written: \(expression) is replaced only where it is the whole value"
    }

    /// What to do about it.
    package var hint: String { "write \(replacement)" }

    /// One sentence with what to do.
    package var warning: String { "\(message); \(hint)" }
}

extension String {
    fileprivate var shortened: String { count <= 80 ? self : "\(prefix(77))…" }
}

extension Template {
    /// Expressions inside text, one for each value that has some, in the order of the body.
    package var expressionsInText: [ExpressionInText] { TemplateCompiler.expressionsInText(of: self) }
}

/// A value cut into text and the expressions in it.
struct MixedText {
    enum Piece: Equatable {
        case text(String)
        case expression(String)
    }

    private(set) var pieces: [Piece] = []
    /// Of the first expression, in UTF-8 bytes; nil where there is none.
    private(set) var start: Int?

    /// - Parameter text: a value that is not an expression as a whole.
    init(_ text: String) {
        let bytes = Array(text.utf8)
        var (at, piece) = (0, 0)
        while let end = Self.expressionEnd(in: bytes, from: &at) {
            if at > piece { pieces.append(.text(String(decoding: bytes[piece..<at], as: UTF8.self))) }
            pieces.append(.expression(String(decoding: bytes[at..<end], as: UTF8.self)))
            start = start ?? at
            (at, piece) = (end, end)
        }
        if piece < bytes.count { pieces.append(.text(String(decoding: bytes[piece...], as: UTF8.self))) }
    }

    /// The first expression.
    var expression: String? {
        for case .expression(let text) in pieces { return text }
        return nil
    }

    /// The value as one expression.
    var joined: String {
        let terms = pieces.map { piece in
            switch piece {
            case .text(let text): "'\(text.replacing("'", with: "''"))'"
            // A number cannot be joined with others.
            case .expression(let text): text.utf8.first == UInt8(ascii: "#") ? "$\(text.dropFirst())" : text
            }
        }
        return "{\(terms.joined(separator: " + "))}"
    }

    /// Moves `at` to the next expression and answers its end; nil where there is none.
    private static func expressionEnd(in bytes: [UInt8], from at: inout Int) -> Int? {
        while at + 1 < bytes.count {
            if bytes[at + 1] == UInt8(ascii: "("), let end = TemplateExpressionParser.endOfProperty(in: bytes, from: at) { return end }
            at += 1
        }
        return nil
    }
}
