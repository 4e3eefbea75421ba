import Lua
import LuaSyntax

/// A chunk of an interactive flow, of one or more lines, and the ways to interpret it.
struct InteractiveChunk {
    /// The text as typed.
    let text: String
    /// The number of its first line in the session, from 1.
    let firstLine: Int

    /// The texts for Lua to compile; the first that compiles is run.
    ///
    /// First as an expression: the to-be-closed variable prevents a tail call, which would lose the line from tracebacks. Then as
    /// statements.
    var readings: [String] { ["local _REPL <close> = nil return \(text)", statements] }

    /// The chunk as part of a script, with an expression assigned to an unused name. Nil if it does not parse.
    var script: String? { [text, "_ = \(text)"].first { (try? Chunk(parsing: Array($0.utf8))) != nil } }

    /// The statements with each top-level `local` turned into an assignment, so that later chunks see the names. Line breaks stay in place.
    /// To-be-closed variables stay local. A chunk that does not parse is unchanged.
    var statements: String {
        guard let chunk = try? Chunk(parsing: Array(text.utf8)) else { return text }
        var bytes = chunk.text.bytes
        // Edit from the end so that earlier offsets stay valid.
        for statement in chunk.block.statements.reversed() {
            switch statement.kind {
            case .local(let names, let values):
                guard !names.contains(where: { $0.attribute == .close }) else { continue }
                let ends = names.map { chunk.text.attribute(of: $0) ?? $0.name.range }
                if values.isEmpty, let last = ends.last { bytes.insert(contentsOf: " = nil;".utf8, at: last.upperBound) }
                for (name, end) in zip(names, ends) where name.attribute != nil { bytes.blank(end) }
            case .localFunction: break
            default: continue
            }
            bytes.blank(statement.range.prefix("local".utf8.count))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A more helpful message for `error`, a syntax error from Lua. Of the two interpretations of the chunk it uses the one that parsed
    /// further. Nil if Lua's own message is better.
    func syntaxError(insteadOf error: LuaError) -> LuaError? {
        guard let statements = fault() else { return nil }
        let expression = mayBeExpression ? fault(after: "_ = ") : nil
        if mayBeExpression, expression == nil { return nil }
        let diagnosis = expression.map { $0.offset > statements.offset ? $0.error : statements.error } ?? statements.error
        // For an unfinished chunk our parser reports only that it is unfinished. Lua may have found another error.
        let isOfMeaning = Self.refusalsOfMeaning.contains { error.message.contains($0) }
        return isOfMeaning && error.location?.line != diagnosis.location?.line ? nil : diagnosis
    }

    /// Fragments of Lua's messages for errors beyond the grammar (lparser.c of Lua 5.4).
    private static let refusalsOfMeaning = [
        "attempt to assign to const variable", "too many ", "no visible label", "label '", "break outside a loop",
        "jumps into the scope", "cannot use '...' outside", "unknown attribute", "multiple to-be-closed",
    ]

    /// Whether the text can begin with an expression.
    private var mayBeExpression: Bool {
        var lexer = Lexer(SourceText(Array(text.utf8)))
        guard let first = try? lexer.next(), case .keyword(let word) = first.kind else { return true }
        if word == .function, let second = try? lexer.next(), case .name = second.kind { return false }
        return [.function, .nil, .true, .false, .not].contains(word)
    }

    /// The syntax error in the text after an inserted `opening`, and its byte offset in the text.
    private func fault(after opening: String = "") -> (error: LuaError, offset: Int)? {
        // Line numbers in messages count the lines of the session.
        let above = String(repeating: "\n", count: firstLine - 1)
        let source = Array("\(above)\(opening)\(text)".utf8)
        do throws(SyntaxError) {
            _ = try Chunk(parsing: source)
            return nil
        } catch {
            let position = SourceText(source).position(at: error.range.lowerBound)
            var shown = LuaError(kind: .syntax, code: "script.syntax", message: error.message, hint: error.hint)
            shown.location = SourceLocation(chunk: "repl", line: position.line)
            let column = position.column - (position.line == firstLine ? opening.count : 0)
            shown.details = .table(LuaTable(fields: ["column": .integer(Int64(max(column, 1)))]))
            return (shown, error.range.lowerBound - opening.utf8.count - above.utf8.count)
        }
    }
}

extension SourceText {
    /// The range of a name's attribute, such as `<const>`.
    fileprivate func attribute(of local: LocalName) -> Range<Int>? {
        guard local.attribute != nil else { return nil }
        var lexer = Lexer(self, at: local.name.range.upperBound)
        guard let opening = try? lexer.next(), (try? lexer.next()) != nil, let closing = try? lexer.next() else { return nil }
        return opening.range.lowerBound..<closing.range.upperBound
    }
}

extension [UInt8] {
    /// Overwrites a range with blanks, except for line breaks.
    fileprivate mutating func blank(_ range: Range<Int>) {
        for index in range where self[index] != 0x0a && self[index] != 0x0d { self[index] = 0x20 }
    }
}
