package import LuaSyntax

/// Finds texts that no excerpt of a script may show, even in a script with syntax errors.
///
/// Hides more than `pushhost check` reports: every value assigned to the name of a secret.
package enum SecretSpans {
    /// The positions of texts that look like a credential, or that are assigned to a secret's name: `password = "…"`, `["api_key"] = "…"`.
    package static func spans(in source: SourceText) -> [Range<SourcePosition>] {
        var spans: [Range<SourcePosition>] = []
        var reader = Reader(source)
        while let hidden = reader.next() {
            spans.append(source.position(at: hidden.lowerBound)..<source.position(at: hidden.upperBound))
        }
        return spans
    }

    /// Whether a line shows a credential outside recognized texts: in a comment, or where tokens cannot be read.
    package static func isCredential(_ line: String) -> Bool { CredentialScan.kind(of: line.utf8) != nil }

    private struct Reader {
        private let source: SourceText
        private var lexer: Lexer
        /// The last three tokens.
        private var before: [Token] = []
        /// The offset where the not yet hidden part of a secret's value begins; nil after its line or the value has ended.
        private var value: Int?

        init(_ source: SourceText) {
            self.source = source
            lexer = Lexer(source)
        }

        mutating func next() -> Range<Int>? {
            while true {
                do throws(SyntaxError) {
                    let token = try lexer.next()
                    if token.kind == .end { return nil }
                    if let last = before.last, source.line(at: last.range.upperBound) != source.line(at: token.range.lowerBound) {
                        value = nil
                    }
                    defer { note(token) }
                    guard case .string(let bytes) = token.kind else { continue }
                    if let value, value == before.last?.range.upperBound { return token.range }
                    if CredentialScan.kind(of: bytes) != nil { return token.range }
                } catch {
                    let line = source.line(at: error.range.lowerBound)
                    let begin = value.flatMap { source.line(at: $0) == line ? $0 : nil }
                    before = []
                    value = nil
                    // Continue with the next line.
                    guard line < source.lineCount else {
                        lexer = Lexer(source, at: source.bytes.count)
                        return begin.map { $0..<source.bytes.count }
                    }
                    let end = source.start(ofLine: line + 1)
                    lexer = Lexer(source, at: end)
                    if let begin { return begin..<(end - 1) }
                }
            }
        }

        private mutating func note(_ token: Token) {
            switch token.kind {
            case .symbol(.assign): value = key.map(CredentialScan.isSecretName) == true ? token.range.upperBound : nil
            case .symbol(.comma), .symbol(.semicolon), .symbol(.rightBrace): value = nil
            case .string, .symbol(.concatenate): if value != nil, value == before.last?.range.upperBound { value = token.range.upperBound }
            default: break
            }
            before = before.suffix(2) + [token]
        }

        /// The name being assigned to: `name =`, or `["name"] =`.
        private var key: String? {
            switch before.last?.kind {
            case .name(let name): name
            case .symbol(.rightBracket):
                if case .string(let bytes)? = before.dropLast().last?.kind { String(decoding: bytes, as: UTF8.self) } else { nil }
            default: nil
            }
        }
    }
}
