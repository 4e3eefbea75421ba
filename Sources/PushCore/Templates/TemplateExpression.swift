/// A single templated value, such as a header's value or `Expiry`: text, or an expression of Azure's template language
/// (Azure's documentation, "Templates").
///
/// | form | gives |
/// |---|---|
/// | `$(p)` | the value, or nothing when absent |
/// | `$(p, n)` | its first n characters |
/// | `.(p, n)` | n characters in all, ending in `...` when cut |
/// | `%(p)` | percent-encoded |
/// | `#(p)` | a bare number in JSON; in braces, `{#(p)}`, the same as `$(p)` |
/// | `{e + 'text' + …}` | all joined; in texts the quote is doubled |
/// | `$(p:{text})` | the text when p is absent; `}` is written `\}`, and any other backslash stands for itself |
package struct TemplateExpression: Sendable, Equatable {
    let terms: [TemplateTerm]
    /// Whether this is `#(p)`.
    let isNumber: Bool

    init(terms: [TemplateTerm]) {
        self.terms = terms
        if terms.count == 1, case .property(let property) = terms[0] {
            isNumber = property.form == .number
        } else {
            isNumber = false
        }
    }

    /// - Throws: `TemplateError` with code `template.syntax`; the position is within `text`.
    package init(parsing text: String, options: TemplateOptions = TemplateOptions()) throws(TemplateError) {
        do throws(TemplateFlaw) {
            self = try TemplateExpressionParser.parse(text, options)
        } catch {
            throw TemplateError(
                .syntax, error.message, hint: error.hint, at: error.offset, in: Array(text.utf8), expression: text)
        }
    }

    package func evaluate(_ properties: TemplateProperties) -> String {
        if terms.count == 1 { return terms[0].evaluate(properties) }
        return terms.reduce(into: "") { $0 += $1.evaluate(properties) }
    }

    /// Whether the value is the same for every message.
    package var isLiteral: Bool {
        terms.allSatisfy { if case .literal = $0 { true } else { false } }
    }

    /// Lower-cased names of the properties, each once, in order.
    package var variables: [String] {
        var seen: Set<String> = []
        return terms.compactMap { term in
            if case .property(let property) = term, seen.insert(property.name).inserted { property.name } else { nil }
        }
    }
}

/// Where and why a value is no expression; the offset is in UTF-8 bytes of the value.
struct TemplateFlaw: Error, Equatable {
    let offset: Int
    let message: String
    var hint: String?
}
