/// Parses one value of a template. Expressions do not nest, so the parser is not recursive.
struct TemplateExpressionParser {
    private let bytes: [UInt8]
    private var at = 0

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// The end of a `$(…)`, `.(…)`, `%(…)` or `#(…)` at `start` inside a text; nil if there is none. A name that starts with a digit counts
    /// only after `$`, because texts such as `#(1)` and `5 %(2)` are common.
    static func endOfProperty(in bytes: [UInt8], from start: Int) -> Int? {
        guard startsExpression(bytes[start]), bytes[start] != UInt8(ascii: "{") else { return nil }
        var parser = TemplateExpressionParser(bytes, at: start)
        guard let term = try? parser.property(inBraces: false), case .property(let found) = term else { return nil }
        let isDigit = found.name.utf8.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? true
        return isDigit && bytes[start] != UInt8(ascii: "$") ? nil : parser.at
    }

    /// The end of a `{…}` with at least one property at `start` inside a text; nil if there is none.
    static func endOfJoined(in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes[start] == UInt8(ascii: "{") else { return nil }
        var parser = TemplateExpressionParser(bytes, at: start)
        guard let terms = try? parser.joined(), terms.contains(where: { if case .property = $0 { true } else { false } }) else {
            return nil
        }
        return parser.at
    }

    private init(_ bytes: [UInt8], at start: Int) { (self.bytes, at) = (bytes, start) }

    /// Parses a value as an expression if it starts with `$`, `.`, `%`, `#` or `{`; otherwise as literal text.
    static func parse(_ text: String, _ options: TemplateOptions) throws(TemplateSyntaxError) -> TemplateExpression {
        var parser = TemplateExpressionParser(text)
        if options.lenient, !parser.isWholeExpression { return try parser.mixedText() }
        guard startsExpression(text.utf8.first) else { return TemplateExpression(terms: [.literal(text)]) }
        return try parser.wholeValue()
    }

    static func startsExpression(_ byte: UInt8?) -> Bool {
        byte.map { "$.%#{".utf8.contains($0) } ?? false
    }

    /// Whether the whole value is an expression even in lenient mode: `{…}`, or a `.`, `%` or `#` with `(`, or the unsupported `$body`.
    private var isWholeExpression: Bool {
        switch bytes.first {
        case UInt8(ascii: "{"): return true
        case UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "#"):
            return bytes.count > 1 && bytes[1] == UInt8(ascii: "(")
        case UInt8(ascii: "$"): return isBodyReference
        default: return false
        }
    }

    private mutating func wholeValue() throws(TemplateSyntaxError) -> TemplateExpression {
        if bytes[0] == UInt8(ascii: "{") {
            let terms = try joined()
            guard at == bytes.count else { throw flaw("Text follows the closing brace.") }
            return TemplateExpression(terms: terms)
        }
        let term = try property(inBraces: false)
        guard at == bytes.count else {
            throw flaw(
                "Text follows the expression.",
                hint: "An expression is a whole value; join with braces, as in {$(name) + ' text'}.")
        }
        return TemplateExpression(terms: [term])
    }

    /// Parses text in which every `$(…)` is replaced.
    private mutating func mixedText() throws(TemplateSyntaxError) -> TemplateExpression {
        var terms: [TemplateTerm] = []
        var piece = 0
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "$"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "(") else {
                at += 1
                continue
            }
            if at > piece { terms.append(.literal(string(piece..<at))) }
            terms.append(try property(inBraces: false))
            piece = at
        }
        if at > piece || terms.isEmpty { terms.append(.literal(string(piece..<at))) }
        return TemplateExpression(terms: terms)
    }

    // MARK: Terms

    /// Parses `{e1 + e2 + …}`.
    private mutating func joined() throws(TemplateSyntaxError) -> [TemplateTerm] {
        at += 1
        skipBlanks()
        if peek == UInt8(ascii: "}") { throw flaw("There is nothing between the braces.") }
        if let number = try singleNumber() { return [number] }
        var terms: [TemplateTerm] = []
        while true {
            skipBlanks()
            terms.append(try term())
            skipBlanks()
            switch peek {
            case UInt8(ascii: "+"): at += 1
            case UInt8(ascii: "}"):
                at += 1
                return terms
            case nil: throw flaw("This \"{\" is never closed.", at: 0)
            default: throw flaw("\"+\" or \"}\" was expected, not \(found).")
            }
        }
    }

    /// Parses `{#(name)}`, which Azure's documentation defines as the same as `$(name)`: in braces a number stays text. Nil for anything
    /// else.
    private mutating func singleNumber() throws(TemplateSyntaxError) -> TemplateTerm? {
        guard peek == UInt8(ascii: "#"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "(") else { return nil }
        let start = at
        guard case .property(let number) = try property(inBraces: false) else { return nil }
        skipBlanks()
        guard peek == UInt8(ascii: "}") else {
            throw at == bytes.count ? flaw("This \"{\" is never closed.", at: 0) : numberJoined(at: start)
        }
        at += 1
        return .property(TemplateProperty(name: number.name, form: .plain, fallback: number.fallback))
    }

    private func numberJoined(at start: Int) -> TemplateSyntaxError {
        flaw("A number #(…) cannot be joined with others.", at: start, hint: "Use $(…) inside braces.")
    }

    private mutating func term() throws(TemplateSyntaxError) -> TemplateTerm {
        switch peek {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return .literal(try quotedText())
        case UInt8(ascii: "{"): throw flaw("Braces do not nest.", hint: "Write one list: {a + b + c}.")
        case UInt8(ascii: "}"), UInt8(ascii: "+"): throw flaw("An expression is missing before \(found).")
        case nil: throw flaw("An expression is missing at the end.")
        case let byte where TemplateExpressionParser.startsExpression(byte): return try property(inBraces: true)
        default:
            throw flaw("An expression was expected, not \(found).", hint: "Write literal text in single quotes: 'text'.")
        }
    }

    /// Parses text in single or double quotes; the same quote inside is doubled.
    private mutating func quotedText() throws(TemplateSyntaxError) -> String {
        let start = at
        let quote = bytes[at]
        var content: [UInt8] = []
        at += 1
        while let byte = peek {
            at += 1
            if byte == quote {
                if peek != quote {
                    if content.isEmpty { throw flaw("The text between the quotes is empty.", at: start) }
                    return String(decoding: content, as: UTF8.self)
                }
                at += 1
            }
            content.append(byte)
        }
        throw flaw("This quote is never closed.", at: start)
    }

    private mutating func property(inBraces: Bool) throws(TemplateSyntaxError) -> TemplateTerm {
        let start = at
        let sign = bytes[at]
        if isBodyReference {
            throw flaw(
                "$body, the whole message, is not supported in templates.", hint: "Name the properties: $(name).")
        }
        at += 1
        guard peek == UInt8(ascii: "(") else {
            let shown = Character(Unicode.Scalar(sign))
            throw flaw(
                "\"(\" was expected after \"\(shown)\", not \(found).",
                hint: inBraces
                    ? nil
                    : "A value that starts with \"\(shown)\" is an expression; as text it is written {'\(shown)…'}.")
        }
        if sign == UInt8(ascii: "#"), inBraces { throw numberJoined(at: start) }
        let opening = at
        at += 1
        let name = try propertyName()
        let fallback = try fallbackText()
        let length = try length(sign)
        guard peek == UInt8(ascii: ")") else {
            if at == bytes.count { throw flaw("This \"(\" is never closed.", at: opening) }
            throw flaw(
                fallback == nil && length == nil
                    ? "Property names have letters, digits and \"_\" only, not \(found)."
                    : "\")\" was expected, not \(found).")
        }
        at += 1
        return .property(TemplateProperty(name: name, form: try form(sign, length, at: start), fallback: fallback))
    }

    private func form(_ sign: UInt8, _ length: Int?, at start: Int) throws(TemplateSyntaxError) -> TemplateProperty.Form {
        switch (sign, length) {
        case (UInt8(ascii: "%"), _): return .encoded
        case (UInt8(ascii: "#"), _): return .number
        case (UInt8(ascii: "."), let length?): return .shortened(length)
        case (UInt8(ascii: "."), nil):
            throw flaw("\".(…)\" needs a length.", at: start, hint: "Write .(name, 20).")
        case (_, let length?): return .clipped(length)
        case (_, nil): return .plain
        }
    }

    private mutating func propertyName() throws(TemplateSyntaxError) -> String {
        skipBlanks()
        let start = at
        while let byte = peek, TemplateExpressionParser.isNameCharacter(byte) { at += 1 }
        guard at > start else {
            if at == bytes.count || peek == UInt8(ascii: ")") { throw flaw("The name of a property is missing.") }
            throw flaw("Property names have letters, digits and \"_\" only, not \(found).")
        }
        guard at - start <= TemplateProperty.maximumNameLength else {
            throw flaw(
                "The name has \(at - start) characters; \(TemplateProperty.maximumNameLength) are allowed.", at: start)
        }
        let name = string(start..<at)
        skipBlanks()
        return name.lowercased()
    }

    /// Parses `:{default}`.
    private mutating func fallbackText() throws(TemplateSyntaxError) -> String? {
        guard peek == UInt8(ascii: ":") else { return nil }
        at += 1
        skipBlanks()
        guard peek == UInt8(ascii: "{") else {
            throw flaw("\"{\" was expected after \":\", not \(found).", hint: "A default is written $(name:{text}).")
        }
        let opening = at
        at += 1
        var content: [UInt8] = []
        while let byte = peek {
            at += 1
            if byte == UInt8(ascii: "}") {
                skipBlanks()
                return String(decoding: content, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\"), peek == UInt8(ascii: "}") {
                content.append(UInt8(ascii: "}"))
                at += 1
            } else {
                content.append(byte)
            }
        }
        throw flaw("The \"{\" of the default is never closed.", at: opening)
    }

    /// Parses `, n`.
    private mutating func length(_ sign: UInt8) throws(TemplateSyntaxError) -> Int? {
        guard peek == UInt8(ascii: ",") else { return nil }
        guard sign == UInt8(ascii: "$") || sign == UInt8(ascii: ".") else {
            throw flaw("\"\(Character(Unicode.Scalar(sign)))(…)\" takes no length.")
        }
        at += 1
        skipBlanks()
        let start = at
        if peek == UInt8(ascii: "-") { throw flaw("The length cannot be negative.") }
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { at += 1 }
        guard at > start else { throw flaw("A length was expected after \",\", not \(found).") }
        guard at - start <= 9, let length = Int(string(start..<at)) else {
            throw flaw("The length is too large.", at: start)
        }
        skipBlanks()
        return length
    }

    // MARK: Bytes and messages

    private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    /// Whether `$body` occurs here as a separate word, in any case.
    private var isBodyReference: Bool {
        let word = bytes[at...].prefix(5).map { $0 | 0x20 }
        guard bytes[at] == UInt8(ascii: "$"), word.dropFirst().elementsEqual("body".utf8) else { return false }
        guard at + 5 < bytes.count else { return true }
        return !TemplateExpressionParser.isNameCharacter(bytes[at + 5])
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private mutating func skipBlanks() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func flaw(_ message: String, at offset: Int? = nil, hint: String? = nil) -> TemplateSyntaxError {
        TemplateSyntaxError(offset: offset ?? at, message: message, hint: hint)
    }

    private var found: String {
        let text = string(at..<min(at + 4, bytes.count))
        return text.unicodeScalars.first.map(\.quoted) ?? "the end"
    }
}
