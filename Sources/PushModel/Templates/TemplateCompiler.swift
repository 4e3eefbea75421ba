/// Splits a body into literal bytes and slots.
struct TemplateCompiler {
    private struct Value {
        let text: String
        /// The range of the body that the rendered value replaces.
        let range: Range<Int>
        /// Offset in the body at which the text starts.
        let start: Int
        let context: Template.Context
    }

    static func compile(
        _ body: String, _ options: TemplateOptions
    ) throws(TemplateError) -> (format: Template.Format, bytes: [UInt8], parts: [Template.Part]) {
        let bytes = Array(body.utf8)
        let first = body.unicodeScalars.first { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }
        switch first {
        case "{", "[": return (.json, bytes, try parts(of: jsonValues(bytes), in: bytes, options))
        case "<": return (.xml, bytes, try parts(of: xmlValues(body), in: bytes, options))
        default:
            let start = body.unicodeScalars.prefix { $0.properties.isWhitespace || $0 == "\u{FEFF}" }
            throw TemplateError(
                .format, first == nil ? "The template is empty." : "The template is neither JSON nor XML.",
                hint: "A template starts with \"{\", \"[\" or \"<\".", at: start.reduce(0) { $0 + UTF8.width($1) },
                in: bytes)
        }
    }

    /// Values that contain expressions but are text. The template has been compiled, so its document is valid.
    static func embeddedExpressions(of template: Template) -> [EmbeddedExpression] {
        let bytes = Array(template.body.utf8)
        let values = (try? template.format == .json ? jsonValues(bytes) : xmlValues(template.body)) ?? []
        return values.compactMap { value in
            EmbeddedExpression(in: value.text).map { $0.at(offset($0.offset, of: value, in: bytes)) }
        }
    }

    private static func jsonValues(_ bytes: [UInt8]) throws(TemplateError) -> [Value] {
        var parser = JSONParser(bytes, recordsStrings: true)
        do throws(JSONError) {
            _ = try parser.document()
        } catch {
            throw TemplateError(.document, "The JSON is malformed: \(error.message)", at: error.offset, in: bytes)
        }
        return parser.strings.map {
            Value(text: $0.text, range: $0.range, start: $0.range.lowerBound + 1, context: .json)
        }
    }

    private static func xmlValues(_ body: String) throws(TemplateError) -> [Value] {
        do throws(XMLError) {
            return try XMLScanner.scan(body).values.map {
                Value(text: $0.text, range: $0.range, start: $0.range.lowerBound, context: .xml($0.context))
            }
        } catch {
            throw TemplateError(
                .document, "The XML is malformed: \(error.message)", at: error.offset, in: Array(body.utf8))
        }
    }

    private static func parts(
        of values: [Value], in bytes: [UInt8], _ options: TemplateOptions
    ) throws(TemplateError) -> [Template.Part] {
        var parts: [Template.Part] = []
        var copied = 0
        for value in values {
            let expression: TemplateExpression
            do throws(TemplateSyntaxError) {
                expression = try TemplateExpressionParser.parse(value.text, options)
            } catch {
                throw TemplateError(
                    .syntax, error.message, hint: error.hint, at: offset(error.offset, of: value, in: bytes),
                    in: bytes, expression: value.text)
            }
            // Plain text remains literal. An expression of only literals, such as {'#000'}, must be rendered.
            if expression.terms == [.literal(value.text)] { continue }
            if value.range.lowerBound > copied { parts.append(.literal(copied..<value.range.lowerBound)) }
            parts.append(.slot(expression, value.context))
            copied = value.range.upperBound
        }
        if bytes.count > copied { parts.append(.literal(copied..<bytes.count)) }
        return parts
    }

    /// Converts an offset in a value's text to an offset in the body, across escapes and references.
    private static func offset(_ offset: Int, of value: Value, in bytes: [UInt8]) -> Int {
        var at = value.start
        var passed = 0
        while passed < offset, at < value.range.upperBound {
            let (length, width) = unit(at: at, in: bytes, value.context)
            at += length
            passed += width
        }
        return at
    }

    /// The number of bytes in the body of one unit, and of the text that it stands for.
    private static func unit(at: Int, in bytes: [UInt8], _ context: Template.Context) -> (length: Int, width: Int) {
        switch (context, bytes[at]) {
        case (.json, UInt8(ascii: "\\")):
            guard bytes[at + 1] == UInt8(ascii: "u") else { return (2, 1) }
            let value = UInt32(String(decoding: bytes[(at + 2)..<(at + 6)], as: UTF8.self), radix: 16) ?? 0
            return Unicode.Scalar(value).map { (6, UTF8.width($0)) } ?? (12, 4)
        case (.xml(.text), UInt8(ascii: "&")), (.xml(.attribute), UInt8(ascii: "&")):
            guard let (scalar, end) = XMLScanner.reference(in: bytes, at: at) else { return (1, 1) }
            return (end - at, UTF8.width(scalar))
        default: return (1, 1)
        }
    }
}
