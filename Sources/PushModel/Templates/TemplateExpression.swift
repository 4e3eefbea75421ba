/// One value of a template, such as a header or `Expiry`: text, or an expression of Azure's template language (Azure's documentation,
/// "Templates").
///
/// | form | result |
/// |---|---|
/// | `$(p)` | the value, or nothing if it is missing |
/// | `$(p, n)` | its first n characters |
/// | `.(p, n)` | at most n characters, ending in `...` if cut |
/// | `%(p)` | percent-encoded |
/// | `#(p)` | a number without quotes in JSON; in braces, `{#(p)}`, the same as `$(p)` |
/// | `{e + 'text' + …}` | all terms joined; a quote inside a text is doubled |
/// | `$(p:{text})` | the text if p is missing; `}` is written `\}`, and any other backslash is literal |
package struct TemplateExpression: Sendable, Equatable {
    package let terms: [TemplateTerm]
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

    /// - Throws: `TemplateError` with code `template.syntax`; its position is in `text`.
    package init(parsing text: String, options: TemplateOptions = TemplateOptions()) throws(TemplateError) {
        do throws(TemplateSyntaxError) {
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

    /// Whether the value does not depend on the message.
    package var isLiteral: Bool {
        terms.allSatisfy { if case .literal = $0 { true } else { false } }
    }

    /// Lower-cased names of the properties, without duplicates, in order.
    package var variables: [String] {
        var seen: Set<String> = []
        return terms.compactMap { term in
            if case .property(let property) = term, seen.insert(property.name).inserted { property.name } else { nil }
        }
    }
}

/// A syntax error in a value; the offset is in UTF-8 bytes of the value.
struct TemplateSyntaxError: Error, Equatable {
    let offset: Int
    let message: String
    var hint: String?
}
