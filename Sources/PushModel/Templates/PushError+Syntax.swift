/// Errors of the small languages (tags, tag expressions, templates), with the text and the position of the error: `details.excerpt` is the
/// line, `details.position` the character, counted from 1.
extension PushError {
    package init(_ error: TagError) {
        self.init(
            "tag.invalid", "invalid tag \"\(error.text.shortened)\": \(error.message.asClause)", hint: error.hint?.asClause,
            status: 400, details: Self.location(error.text, error.position))
    }

    package init(_ error: TagExpressionError) {
        self.init(
            "tag_expression.invalid", "invalid tag expression at character \(error.position): \(error.message.asClause)",
            hint: error.hint?.asClause, status: 400, details: Self.location(error.text, error.position))
    }

    package init(_ error: TemplateError, in body: String) {
        let lines = body.split(separator: "\n", omittingEmptySubsequences: false)
        let line = error.line <= lines.count ? String(lines[error.line - 1]) : body
        var details = Self.location(line, error.column)
        details["line"] = .integer(Int64(error.line))
        self.init(
            error.code, "invalid template at line \(error.line), column \(error.column): \(error.message.asClause)",
            hint: error.hint?.asClause, status: 400, details: details)
    }

    private static func location(_ text: String, _ position: Int) -> [String: JSON] {
        ["excerpt": .string(text), "position": .integer(Int64(position))]
    }
}

extension String {
    /// Turns a sentence into a clause for use in another sentence: no initial capital, no full stop.
    package var asClause: String {
        var text = self
        if text.last == "." { text.removeLast() }
        guard let first = text.first, first.isUppercase, text.dropFirst().first?.isUppercase != true else { return text }
        return first.lowercased() + text.dropFirst()
    }

    fileprivate var shortened: String { count <= 60 ? self : "\(prefix(57))…" }
}
