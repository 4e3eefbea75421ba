import Lua
import LuaSyntax

/// A piece of an interactive flow, one line or several, and the ways to read it.
struct InteractiveChunk {
    /// As it was typed.
    let text: String
    /// The number of its first line in the session, counted from 1.
    let firstLine: Int

    /// What Lua is to compile: the first that compiles is run.
    ///
    /// First as an expression: the variable to be closed keeps its call from being a tail call, which would leave no trace of
    /// the line. Then as statements.
    var readings: [String] { ["local _REPL <close> = nil return \(text)", statements] }

    /// As a part of a script: an expression is assigned to a name that nobody reads. Nil for what is no Lua.
    var script: String? { [text, "_ = \(text)"].first { (try? Chunk(parsing: Array($0.utf8))) != nil } }

    /// The statements, with every `local` of the top level made an assignment, so that what they define is there in the next
    /// chunk. Line breaks stay where they are. A variable to be closed stays local, and so does everything in a chunk that
    /// does not compile.
    var statements: String {
        guard let chunk = try? Chunk(parsing: Array(text.utf8)) else { return text }
        var bytes = chunk.text.bytes
        // From the end, so that the places before stay right.
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

    /// What is wrong, in words that say more than those of Lua, which has refused the chunk with `error`: of the two ways to
    /// read it, the one that came further was meant. Nil where Lua's own words are better.
    func syntaxError(insteadOf error: LuaError) -> LuaError? {
        guard let statements = fault() else { return nil }
        let expression = mayBeExpression ? fault(after: "_ = ") : nil
        if mayBeExpression, expression == nil { return nil }
        let diagnosis = expression.map { $0.offset > statements.offset ? $0.error : statements.error } ?? statements.error
        // In a chunk that is not finished, the reader sees that alone; Lua has seen more.
        let isOfMeaning = Self.refusalsOfMeaning.contains { error.message.contains($0) }
        return isOfMeaning && error.location?.line != diagnosis.location?.line ? nil : diagnosis
    }

    /// What Lua says of chunks that are right as far as the grammar goes (lparser.c of Lua 5.4).
    private static let refusalsOfMeaning = [
        "attempt to assign to const variable", "too many ", "no visible label", "label '", "break outside a loop",
        "jumps into the scope", "cannot use '...' outside", "unknown attribute", "multiple to-be-closed",
    ]

    /// Whether the text begins as a value can.
    private var mayBeExpression: Bool {
        var lexer = Lexer(SourceText(Array(text.utf8)))
        guard let first = try? lexer.next(), case .keyword(let word) = first.kind else { return true }
        if word == .function, let second = try? lexer.next(), case .name = second.kind { return false }
        return [.function, .nil, .true, .false, .not].contains(word)
    }

    /// The fault of the text behind an opening that was not typed, and how far into the text it is, in bytes.
    private func fault(after opening: String = "") -> (error: LuaError, offset: Int)? {
        // Messages name lines, and mean those of the session.
        let above = String(repeating: "\n", count: firstLine - 1)
        let source = Array("\(above)\(opening)\(text)".utf8)
        do throws(SyntaxError) {
            _ = try Chunk(parsing: source)
            return nil
        } catch {
            let place = SourceText(source).position(at: error.range.lowerBound)
            var shown = LuaError(kind: .syntax, code: "script.syntax", message: error.message, hint: error.hint)
            shown.location = SourceLocation(chunk: "repl", line: place.line)
            let column = place.column - (place.line == firstLine ? opening.count : 0)
            shown.details = .table(LuaTable(fields: ["column": .integer(Int64(max(column, 1)))]))
            return (shown, error.range.lowerBound - opening.utf8.count - above.utf8.count)
        }
    }
}

extension SourceText {
    /// Where the attribute of a name stands, `<const>`.
    fileprivate func attribute(of local: LocalName) -> Range<Int>? {
        guard local.attribute != nil else { return nil }
        var lexer = Lexer(self, at: local.name.range.upperBound)
        guard let opening = try? lexer.next(), (try? lexer.next()) != nil, let closing = try? lexer.next() else { return nil }
        return opening.range.lowerBound..<closing.range.upperBound
    }
}

extension [UInt8] {
    /// Puts blanks in the place of all but line breaks.
    fileprivate mutating func blank(_ range: Range<Int>) {
        for place in range where self[place] != 0x0a && self[place] != 0x0d { self[place] = 0x20 }
    }
}
