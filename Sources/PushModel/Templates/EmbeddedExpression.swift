/// An expression inside a longer value, such as `Hi $(name)`. Azure replaces an expression only if it is the whole value, so the device
/// shows this one literally. It is valid but almost never intended.
package struct EmbeddedExpression: Sendable, Equatable {
    /// The value, such as `Hi $(name)`.
    package let text: String
    /// The first expression in it, such as `$(name)`.
    package let expression: String
    /// What to write instead, such as `{'Hi ' + $(name)}`.
    package let replacement: String
    /// Offset of the expression in the body, in UTF-8 bytes.
    package let offset: Int

    /// The code of the warning.
    package static let code = "template.text"

    package var message: String {
        "the template text \"\(text.shortened)\" is shown literally: \(expression) is replaced only if it is the whole value"
    }

    /// How to correct it.
    package var hint: String { "write \(replacement)" }

    /// The message and the hint in one sentence.
    package var warning: String { "\(message); \(hint)" }
}

extension String {
    fileprivate var shortened: String { count <= 80 ? self : "\(prefix(77))…" }
}

extension Template {
    /// Expressions inside longer values: the first of each such value, in the order of the body.
    package var embeddedExpressions: [EmbeddedExpression] { TemplateCompiler.embeddedExpressions(of: self) }
}

/// A value split into text and the expressions in it.
struct MixedText {
    enum Piece: Equatable {
        case text(String)
        case expression(String)
    }

    private(set) var pieces: [Piece] = []
    /// Offset of the first expression in UTF-8 bytes; nil if there is none.
    private(set) var start: Int?

    /// - Parameter text: a value that is not itself an expression.
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

    /// The value rewritten as one expression.
    var joined: String {
        let terms = pieces.map { piece in
            switch piece {
            case .text(let text): "'\(text.replacing("'", with: "''"))'"
            // A number `#(…)` cannot be joined with other terms.
            case .expression(let text): text.utf8.first == UInt8(ascii: "#") ? "$\(text.dropFirst())" : text
            }
        }
        return "{\(terms.joined(separator: " + "))}"
    }

    /// Moves `at` to the next expression and returns its end; nil if there is none.
    private static func expressionEnd(in bytes: [UInt8], from at: inout Int) -> Int? {
        while at + 1 < bytes.count {
            if bytes[at + 1] == UInt8(ascii: "("), let end = TemplateExpressionParser.endOfProperty(in: bytes, from: at) { return end }
            at += 1
        }
        return nil
    }
}
