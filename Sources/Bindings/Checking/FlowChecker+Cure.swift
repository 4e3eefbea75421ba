import Lua
import LuaSyntax
import PushCore

extension LuaError {
    /// With a cure for what Lua itself refuses: Lua says what, but not what to write instead. Also with the name that is
    /// nowhere, where a call misses what that name was to give it.
    ///
    /// `script` is the text whose lines the error counts, under the name that the error's place has. Anything else stays as it is.
    func explained(by script: FlowScript) -> LuaError {
        guard let location, location.chunk == script.name else { return self }
        var explained = self
        if kind == .runtime, code == "script.error", hint == nil {
            explained.hint = FlowChecker().cure(of: message, line: location.line, in: script.source)
        } else if kind == .misuse, Self.absences.contains(code),
            let cure = FlowChecker().unknownName(inCallAt: location.line, of: script.source)
        {
            explained.hint = [cure, hint].compactMap { $0 }.joined(separator: "; ")
        }
        return explained
    }

    /// Codes of calls that something is missing in.
    private static let absences: Set<String> = [
        "args.missing", "send.no_audience", "send.no_content", "schedule.when", "installation.channel",
    ]
}

extension FlowChecker {
    /// What to write instead of what Lua has refused in a line, by its message.
    fileprivate func cure(of message: String, line: Int, in source: [UInt8]) -> String? {
        guard let chunk = try? Chunk(parsing: source) else { return nil }
        guard let complaint = LuaComplaint(message) else { return Self.cure(of: message) }
        let walk = walk(through: chunk)
        let text = chunk.text
        // A name that is nowhere is reported once, so perhaps in another line.
        if let name = complaint.name {
            let nowhere = walk.remarks.filter {
                $0.code.hasSuffix("unknown_global") || $0.code.hasSuffix("unknown_name") || $0.code.hasSuffix("unknown_field")
            }
            .filter { text[$0.range] == name }
            let remark = nowhere.first { text.line(at: $0.range.lowerBound) == line } ?? nowhere.first
            if let remark { return remark.sentence }
        }
        let same = walk.remarks.first { remark in
            remark.code == "script.error" && text.line(at: remark.range.lowerBound) <= line
                && text.line(at: remark.range.upperBound) >= line
                && remark.message == complaint.operation.message(complaint.type)
        }
        if let same { return same.hint }
        if complaint.operation == .index, complaint.name == "self" {
            return "a method gets the value before the colon: it was called with a dot, or as a function of its own"
        }
        if complaint.type == "nil", let name = complaint.name, let near = near(name, as: complaint.origin ?? "", walk) {
            return complaint.origin == "method"
                ? "there is no method \"\(name)\" here; did you mean \"\(near)\"?" : "\"\(name)\" is nil here; did you mean \"\(near)\"?"
        }
        if complaint.origin == "method", let name = complaint.name { return "the value before the colon has no method \"\(name)\"" }
        return complaint.operation.cure(complaint.type, spelling: complaint.spelling(in: text.line(line)))
    }

    /// A name that is nowhere, within the call that begins in a line.
    fileprivate func unknownName(inCallAt line: Int, of source: [UInt8]) -> String? {
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
        return walk(through: chunk).remarks.first { $0.code == "script.unknown_global" && range.contains($0.range.lowerBound) }?.sentence
    }

    /// A name like this one that means something where it stands.
    private func near(_ name: String, as origin: String, _ walk: FlowWalk) -> String? {
        let candidates: Set<String> =
            switch origin {
            case "method": vocabulary.allMembers.union(LuaLibrary.libraries["string"] ?? []).union(walk.globals.keys)
            case "field": walk.globals.keys
            default: []
            }
        return nearest(name, in: candidates.subtracting([name]))
    }

    /// Of messages that name no value.
    private static func cure(of message: String) -> String? {
        if message.hasPrefix("bad argument #"), let end = message.firstRange(of: " expected, got "),
            let begin = message.firstRange(of: " (")
        {
            let wanted = message[begin.upperBound..<end.lowerBound]
            let given = message[end.upperBound...].prefix { $0 != ")" }
            switch (wanted, given) {
            case (_, "no value"): return "the call lacks an argument: give it a \(wanted)"
            case (_, "nil"): return "the argument is nil: a name may be misspelt, or a function may have returned nothing"
            case ("number", _): return "tonumber(…) makes a number of a text"
            case ("string", _): return "tostring(…) makes a text of any value"
            default: return "give it a \(wanted) instead of a \(given)"
            }
        }
        let cures: [(String, String)] = [
            ("bad 'for' ", "for counts with numbers: tonumber(…) reads one from a text"),
            ("number has no integer representation", "math.floor(…) makes a whole number of it"),
            ("number (", "math.floor(…) makes a whole number of it"),
            ("attempt to divide by zero", "ask first whether the divisor is 0"),
            ("attempt to perform 'n//0'", "ask first whether the divisor is 0"),
            ("attempt to perform 'n%%0'", "ask first whether the divisor is 0"),
            ("table index is nil", "the key in the brackets is nil: a name may be misspelt"),
            ("table index is NaN", "the key in the brackets is 0/0, which is no number"),
            ("stack overflow", "a function calls itself without end: let it return before it calls itself again"),
        ]
        return cures.first { message.hasPrefix($0.0) }?.1
    }
}

extension LuaComplaint {
    /// How a line writes the value: with what stands before its dot.
    fileprivate func spelling(in line: String) -> String? {
        guard let name else { return nil }
        switch origin {
        case "constant": return "\"\(name)\""
        case "field":
            guard let place = line.firstRange(of: ".\(name)") else { return nil }
            let owner = line[..<place.lowerBound].reversed().prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
            // What is called or indexed before has no name.
            guard let first = owner.last, first != "." else { return nil }
            return String(owner.reversed()) + line[place]
        default: return name
        }
    }
}

extension Remark {
    /// Message and hint in one.
    fileprivate var sentence: String { [message, hint].compactMap { $0 }.joined(separator: message.hasSuffix("?") ? " " : ": ") }
}
