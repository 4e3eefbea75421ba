import LuaSyntax

/// The syntactic position of the cursor, which decides what names can be completed.
enum CompletionContext: Equatable {
    /// Any name, also as a value in a table.
    case name(typed: String)
    /// `path.typed`, or `path:typed`.
    case member(path: [String], isMethod: Bool, typed: String)
    /// A key of the table argument of a call; `given` are the keys that are already present.
    case key(of: Callee, given: Set<String>, typed: String)

    /// The function before the brace: `push.send {`, `phone:wait_for {`, `push.install("id", {`.
    struct Callee: Equatable {
        var path: [String]
        var isMethod: Bool
        /// Whether another argument precedes the table.
        var hasLeading: Bool
    }

    /// Parses the lines; the cursor is at the end of the last one. Nil inside strings and comments.
    init?(_ lines: [String]) {
        // The appended letter makes the text before the cursor a name, even if it is empty or looks like a keyword.
        let source = SourceText(Array("\(lines.joined(separator: "\n"))_".utf8))
        var lexer = Lexer(source)
        var words: [String] = []
        var last: Token?
        while true {
            guard let token = try? lexer.next() else { return nil }
            if token.kind == .end { break }
            if let last { words.append(last.spelling(in: source)) }
            last = token
        }
        guard let last, case .name(let name) = last.kind, last.range.upperBound == source.bytes.count else { return nil }
        let typed = String(name.dropLast())
        if let separator = words.last, separator == "." || separator == ":" {
            guard let path = Self.path(words.dropLast()) else { return nil }
            self = .member(path: path.names, isMethod: separator == ":", typed: typed)
        } else if ["{", ",", ";"].contains(words.last), let (callee, given) = Self.call(words) {
            self = .key(of: callee, given: given, typed: typed)
        } else {
            self = .name(typed: typed)
        }
    }

    /// The trailing path from a global to a value, `a.b.c`.
    private static func path(_ words: ArraySlice<String>) -> (names: [String], rest: ArraySlice<String>)? {
        var rest = words
        var names: [String] = []
        while let name = rest.last, name.isName {
            names.insert(name, at: 0)
            rest.removeLast()
            guard rest.last == "." else { return rest.last == ":" ? nil : (names, rest) }
            rest.removeLast()
        }
        return nil
    }

    /// The call whose table argument is open at the end, and the keys of that table so far.
    private static func call(_ words: [String]) -> (Callee, Set<String>)? {
        guard let brace = opening(of: words[...]), words[brace] == "{" else { return nil }
        var given: Set<String> = []
        var depth = 0
        for index in words.indices.dropFirst(brace + 1) {
            switch words[index] {
            case "(", "{", "[": depth += 1
            case ")", "}", "]": depth -= 1
            case "=" where depth == 0: given.insert(words[index - 1])
            default: break
            }
        }
        var before = words[..<brace]
        var hasLeading = false
        if before.last == "," {
            guard let parenthesis = opening(of: before), before[parenthesis] == "(" else { return nil }
            hasLeading = true
            before = before[..<parenthesis]
        } else if before.last == "(" {
            before.removeLast()
        }
        guard let method = before.last, method.isName else { return nil }
        if before.dropLast().last == ":" {
            guard let path = path(before.dropLast(2)) else { return nil }
            return (Callee(path: path.names + [method], isMethod: true, hasLeading: hasLeading), given)
        }
        guard let path = path(before) else { return nil }
        return (Callee(path: path.names, isMethod: false, hasLeading: hasLeading), given)
    }

    /// The index of the innermost bracket that is open at the end.
    private static func opening(of words: ArraySlice<String>) -> Int? {
        var depth = 0
        for index in words.indices.reversed() {
            switch words[index] {
            case ")", "}", "]": depth += 1
            case "(", "{", "[":
                if depth == 0 { return index }
                depth -= 1
            default: break
            }
        }
        return nil
    }
}

extension Token {
    /// The token's text. Literals are replaced by `""`.
    fileprivate func spelling(in source: SourceText) -> String {
        switch kind {
        case .name, .keyword, .symbol: source[range]
        case .string, .integer, .number, .end: "\"\""
        }
    }
}

extension String {
    fileprivate var isName: Bool { first.map { $0.isLetter || $0 == "_" } ?? false }
}
