import Testing

/// Doc comments name parameters that their declarations have, and say first what a type is or does.
@Suite struct DocCommentTests {
    @Test(arguments: ["Sources", "Tests"])
    func `a doc comment names only parameters of its declaration`(folder: String) throws {
        for file in try Package.swiftFiles(in: folder) where file.text.contains("/// - Parameter") {
            let code = file.code.map(\.text)
            for comment in file.parameterComments {
                let names = Package.File.parameters(of: code[comment.end...])
                for (line, name) in comment.names where !names.contains(name) {
                    Issue.record("\(file.path):\(line) documents the parameter \(name), which the declaration does not have")
                }
            }
        }
    }

    /// Words that begin a clause instead.
    private static let clauses = ["When", "What", "Whether", "How", "Where", "Which", "Who", "Whom", "Whose", "Why", "The same"]

    @Test func `the doc comment of a type starts with a noun or a verb`() throws {
        for file in try Package.swiftFiles(in: "Sources") {
            for line in file.declarationsOfTypes where line.declaresType {
                guard let comment = file.docComment(of: line.number) else { continue }
                for words in Self.clauses where comment.text.hasPrefix("\(words) ") {
                    Issue.record("\(file.path):\(comment.line) starts with \"\(words)\": say what the type is or does")
                }
            }
        }
    }

    @Test func `the doc comment of a type is above its attributes`() {
        let lines = ["/// What it is.", "/// More.", "@MainActor", "package final class A {", "    let a = 1", "    struct B {}", "}"]
        let file = Package.File(path: "Sources/A/A.swift", text: lines.joined(separator: "\n"))
        let declarations = file.declarationsOfTypes.filter(\.declaresType).map(\.number)
        #expect(declarations == [4, 6])
        let comments = declarations.map(file.docComment(of:))
        #expect(comments.map { $0?.text } == ["What it is.", nil] && comments.first??.line == 1)
    }

    @Test func `labels and names count as parameters, those of a closure's type do not`() {
        let code = [
            "    @inline(__always)", "    package func send<Result: Sendable>(", "        _ request: Request, at time: Int = max(1, 2),",
            "        seen: [String: Int] = [:], then body: (_ answer: Int) -> Result", "    ) -> Result where Result: Equatable {",
            "        other(wrong: 1)",
        ]
        #expect(Package.File.parameters(of: code[...]) == ["_", "request", "at", "time", "seen", "then", "body"])
        let comment = [
            "    /// Sends.", "    ///", "    /// - Parameters:", "    ///   - request: the request,", "    ///     - not: a parameter.",
            "    ///   - time: when.", "    /// - Returns: nothing.", "    func send() {",
        ]
        let found = Package.File(path: "Sources/A/B.swift", text: comment.joined(separator: "\n")).parameterComments
        #expect(found.map(\.end) == [7])
        #expect(found.first?.names.map(\.name) == ["request", "time"])
        #expect(found.first?.names.map(\.line) == [4, 6])
    }
}

extension Package.Line {
    fileprivate var declaresType: Bool {
        let modifiers: Set<Substring> = ["public", "package", "internal", "fileprivate", "private", "final", "indirect", "nonisolated"]
        let kinds: Set<Substring> = ["class", "struct", "enum", "actor", "protocol", "typealias", "associatedtype"]
        let kind = text.split(separator: " ").first { !modifiers.contains($0) && !$0.hasPrefix("@") }
        return kind.map(kinds.contains) ?? false
    }
}

extension Package.File {
    /// The first line of the doc comment of a declaration.
    ///
    /// - Parameter declaration: number of the declaration's line.
    fileprivate func docComment(of declaration: Int) -> (line: Int, text: Substring)? {
        var index = declaration - 2
        while index >= 0, lines[index].drop(while: { $0 == " " }).hasPrefix("@") { index -= 1 }
        var first: (line: Int, text: Substring)?
        while index >= 0 {
            let text = lines[index].drop { $0 == " " }
            guard text.hasPrefix("///") else { break }
            first = (index + 1, text.dropFirst(4))
            index -= 1
        }
        return first
    }

    /// A doc comment that documents parameters.
    fileprivate struct ParameterComment {
        /// The documented names, with their lines, numbered from 1.
        var names: [(line: Int, name: String)] = []
        /// Index of the first line after the comment.
        var end = 0
    }

    fileprivate var parameterComments: [ParameterComment] {
        var found: [ParameterComment] = []
        var current = ParameterComment()
        var isList = false
        for (index, line) in lines.enumerated() {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("///") else {
                current.end = index
                if !current.names.isEmpty { found.append(current) }
                (current, isList) = (ParameterComment(), false)
                continue
            }
            let words = text.dropFirst(3)
            if words.hasPrefix(" - Parameter ") {
                current.names.append((index + 1, String(words.dropFirst(13).prefix { $0 != ":" })))
            } else if words.hasPrefix(" - Parameters:") {
                isList = true
            } else if isList, words.hasPrefix("   - ") {
                current.names.append((index + 1, String(words.dropFirst(5).prefix { $0 != ":" })))
            } else if !words.hasPrefix("   ") {
                isList = false
            }
        }
        return found
    }

    /// The labels and names of the parameters of the first declaration in some lines of code.
    fileprivate static func parameters(of code: ArraySlice<String>) -> Set<String> {
        let text = code.prefix(40).joined(separator: "\n")
        guard let keyword = text.firstMatch(of: /\b(?:func|init|subscript|case|typealias|let|var)\b/),
            let start = text[keyword.range.upperBound...].firstIndex(of: "(")
        else { return [] }
        var found: Set<String> = []
        var depth = 0
        // What stands between the start of a parameter and its colon; nil within its type and default.
        var names: String?
        for character in text[start...] {
            switch character {
            case "(", "[", "{":
                depth += 1
                names = depth == 1 ? "" : nil
            case ")", "]", "}":
                depth -= 1
                if depth == 0 { return found }
            case "," where depth == 1: names = ""
            case ":" where depth == 1:
                if let words = names?.split(whereSeparator: \.isWhitespace) { found.formUnion(words.map(String.init)) }
                names = nil
            default: names?.append(character)
            }
        }
        return found
    }
}
