/// An expression inside a longer value, such as `Hi $(name)`, in the body or a header of a template. Azure replaces an expression only if
/// it is the whole value, so this one is sent literally. It is valid but almost never intended.
package struct EmbeddedExpression: Sendable, Equatable {
    /// The name of the header with this value; nil for a value of the body.
    package var header: String?
    /// The value, such as `Hi $(name)`.
    package let text: String
    /// The first expression in it, such as `$(name)`.
    package let expression: String
    /// What to write instead, such as `{'Hi ' + $(name)}`.
    package let replacement: String
    /// Offset of the expression in the body or in the header's value, in UTF-8 bytes.
    package let offset: Int

    /// The code of the warning.
    package static let code = "template.text"

    package var message: String {
        let subject =
            header.map { "the value \"\(text.shortened)\" of the template's header \($0) is sent" }
            ?? "the template text \"\(text.shortened)\" is shown"
        return "\(subject) literally: \(expression) is replaced only if it is the whole value"
    }

    /// How to correct it.
    package var hint: String { "write \(replacement)" }

    /// The message and the hint in one sentence.
    package var warning: String { "\(message); \(hint)" }
}

extension String {
    fileprivate var shortened: String { count <= 80 ? self : "\(prefix(77))…" }
}

extension EmbeddedExpression {
    /// Finds the first expression in a value that is text. A value that starts like an expression has been compiled as one.
    ///
    /// - Returns: nil if there is none, or if the value fits into no notification.
    init?(in value: String) {
        guard value.utf8.contains(UInt8(ascii: "(")), value.utf8.count <= Self.maximumLength,
            !TemplateExpressionParser.startsExpression(value.utf8.first)
        else { return nil }
        let mixed = MixedText(value)
        guard let expression = mixed.expression, let start = mixed.start else { return nil }
        self.init(text: value, expression: expression, replacement: mixed.joined, offset: start)
    }

    /// Maximum number of bytes of a value that is examined. No push service accepts a larger payload.
    private static let maximumLength = 8_192

    /// The expression with its offset in the body instead of in the value.
    func at(_ offset: Int) -> EmbeddedExpression {
        EmbeddedExpression(header: header, text: text, expression: expression, replacement: replacement, offset: offset)
    }
}

extension Template {
    /// Expressions inside longer values: the first of each such value, in the order of the body.
    package var embeddedExpressions: [EmbeddedExpression] { TemplateCompiler.embeddedExpressions(of: self) }
}

extension PushHeader {
    /// An expression inside the value of a template's header; nil if there is none.
    package var embeddedExpression: EmbeddedExpression? {
        var found = EmbeddedExpression(in: value)
        found?.header = name
        return found
    }
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
            case .expression(let text): Self.term(text)
            }
        }
        return "{\(terms.joined(separator: " + "))}"
    }

    /// The expression as it is written inside braces. Braces do not nest, and a number `#(…)` cannot be joined with other terms.
    private static func term(_ expression: String) -> String {
        switch expression.utf8.first {
        case UInt8(ascii: "{"):
            let inner = expression.dropFirst().dropLast().drop(while: \.isWhitespace)
            return term(String(inner.reversed().drop(while: \.isWhitespace).reversed()))
        case UInt8(ascii: "#"): return "$\(expression.dropFirst())"
        default: return expression
        }
    }

    /// Moves `at` to the next expression and returns its end; nil if there is none.
    private static func expressionEnd(in bytes: [UInt8], from at: inout Int) -> Int? {
        while at + 1 < bytes.count {
            if let end = TemplateExpressionParser.endOfJoined(in: bytes, from: at) { return end }
            if bytes[at + 1] == UInt8(ascii: "("), let end = TemplateExpressionParser.endOfProperty(in: bytes, from: at) { return end }
            at += 1
        }
        return nil
    }
}
