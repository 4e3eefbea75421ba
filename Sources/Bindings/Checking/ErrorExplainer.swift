import Lua
import LuaSyntax
import PushModel

/// Explains errors of Lua with the source of the script: Lua reports the problem but not the remedy.
struct ErrorExplainer {
    private let checker: FlowChecker

    init(_ registry: BindingRegistry) { checker = FlowChecker(registry) }

    /// Adds a hint to an error of Lua. If a call lacks an argument because a name is undefined, the hint includes that name.
    ///
    /// `script` is the source that the error's line refers to, under the chunk name of its location. Other errors are returned unchanged.
    func explained(_ error: LuaError, by script: FlowScript) -> LuaError {
        guard let location = error.location, location.chunk == script.name else { return error }
        var explained = error
        if error.kind == .runtime, error.code == "script.error", error.hint == nil {
            explained.hint = fix(of: error.message, line: location.line, in: script.source)
        } else if error.kind == .misuse, Self.unsupportedCalls.contains(error.code),
            let fix = unknownName(inCallAt: location.line, of: script.source)
        {
            explained.hint = [fix, error.hint].compactMap { $0 }.joined(separator: "; ")
        }
        return explained
    }

    /// Codes of errors about calls with a missing argument.
    private static let unsupportedCalls: Set<String> = [
        "args.missing", "send.no_audience", "send.no_content", "schedule.when", "installation.channel",
    ]

    /// The remedy for an error message of Lua in a line.
    private func fix(of message: String, line: Int, in source: [UInt8]) -> String? {
        guard let chunk = try? Chunk(parsing: source) else { return nil }
        guard let diagnostic = LuaDiagnostic(message) else { return Self.fix(of: message) }
        let knowledge = checker.knowledge(of: chunk)
        let text = chunk.text
        // The checker reports an undefined name only once, possibly in another line.
        if let name = diagnostic.name {
            let nowhere = knowledge.remarks.filter {
                $0.code.hasSuffix("unknown_global") || $0.code.hasSuffix("unknown_name") || $0.code.hasSuffix("unknown_field")
            }
            .filter { text[$0.range] == name }
            let remark = nowhere.first { text.line(at: $0.range.lowerBound) == line } ?? nowhere.first
            if let remark { return remark.sentence }
        }
        let same = knowledge.remarks.first { remark in
            remark.code == "script.error" && text.line(at: remark.range.lowerBound) <= line
                && text.line(at: remark.range.upperBound) >= line
                && remark.message == diagnostic.operation.message(diagnostic.type)
        }
        if let same { return same.hint }
        if diagnostic.operation == .index, diagnostic.name == "self" {
            return "self is the value before the colon, but the method was called with a dot or as a function"
        }
        if diagnostic.type == "nil", let name = diagnostic.name, let near = near(name, as: diagnostic.origin ?? "", knowledge) {
            return diagnostic.origin == "method"
                ? "there is no method \"\(name)\" here; did you mean \"\(near)\"?" : "\"\(name)\" is nil here; did you mean \"\(near)\"?"
        }
        if diagnostic.origin == "method", let name = diagnostic.name { return "the value before the colon has no method \"\(name)\"" }
        return diagnostic.operation.fix(diagnostic.type, spelling: diagnostic.spelling(in: text.line(line)))
    }

    /// A message about an undefined name within the call that begins in `line`.
    private func unknownName(inCallAt line: Int, of source: [UInt8]) -> String? {
        guard let chunk = try? Chunk(parsing: source) else { return nil }
        let text = chunk.text
        var lexer = Lexer(text, at: text.start(ofLine: line))
        var (depth, end) = (0, text.start(ofLine: line))
        while let token = try? lexer.next(), token.kind != .end, depth > 0 || text.line(at: token.range.lowerBound) == line {
            switch token.kind {
            case .symbol(.leftParenthesis), .symbol(.leftBrace), .symbol(.leftBracket): depth += 1
            case .symbol(.rightParenthesis), .symbol(.rightBrace), .symbol(.rightBracket): depth -= 1
            default: break
            }
            end = token.range.upperBound
        }
        let range = text.start(ofLine: line)..<max(end, text.start(ofLine: line))
        return checker.knowledge(of: chunk).remarks.first { $0.code == "script.unknown_global" && range.contains($0.range.lowerBound) }?
            .sentence
    }

    /// A similar name that is defined in this position.
    private func near(_ name: String, as origin: String, _ knowledge: ScriptKnowledge) -> String? {
        let candidates: Set<String> =
            switch origin {
            case "method": checker.vocabulary.allMembers.union(LuaLibrary.libraries["string"] ?? []).union(knowledge.globals.keys)
            case "field": knowledge.globals.keys
            default: []
            }
        return nearest(name, in: candidates.subtracting([name]))
    }

    /// The remedy for messages that do not name a value.
    private static func fix(of message: String) -> String? {
        if message.hasPrefix("bad argument #"), let end = message.firstRange(of: " expected, got "),
            let begin = message.firstRange(of: " (")
        {
            let wanted = message[begin.upperBound..<end.lowerBound]
            let given = message[end.upperBound...].prefix { $0 != ")" }
            switch (wanted, given) {
            case (_, "no value"): return "an argument is missing: pass a \(wanted)"
            case (_, "nil"): return "the argument is nil: a name may be misspelt, or a function may have returned nothing"
            case ("number", _): return "tonumber(…) converts a string to a number"
            case ("string", _): return "tostring(…) converts any value to a string"
            default: return "pass a \(wanted) instead of a \(given)"
            }
        }
        let cures: [(String, String)] = [
            ("bad 'for' ", "for needs numbers; tonumber(…) converts a string to a number"),
            ("number has no integer representation", "math.floor(…) converts it to a whole number"),
            ("number (", "math.floor(…) converts it to a whole number"),
            ("attempt to divide by zero", "check first whether the divisor is 0"),
            ("attempt to perform 'n//0'", "check first whether the divisor is 0"),
            ("attempt to perform 'n%%0'", "check first whether the divisor is 0"),
            ("table index is nil", "the key in the brackets is nil: a name may be misspelt"),
            ("table index is NaN", "the key in the brackets is NaN"),
            ("stack overflow", "a function calls itself endlessly; add a condition that ends the recursion"),
        ]
        return cures.first { message.hasPrefix($0.0) }?.1
    }
}

extension LuaDiagnostic {
    /// The source text of the value in a line, including its owner: `owner.name`.
    fileprivate func spelling(in line: String) -> String? {
        guard let name else { return nil }
        switch origin {
        case "constant": return "\"\(name)\""
        case "field":
            guard let range = line.firstRange(of: ".\(name)") else { return nil }
            let owner = line[..<range.lowerBound].reversed().prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
            // The owner is the result of a call or an index, so it has no name to show.
            guard let first = owner.last, first != "." else { return nil }
            return String(owner.reversed()) + line[range]
        default: return name
        }
    }
}

extension SourceFinding {
    /// Message and hint as one sentence.
    fileprivate var sentence: String { [message, hint].compactMap { $0 }.joined(separator: message.hasSuffix("?") ? " " : ": ") }
}
