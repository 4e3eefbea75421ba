import Testing

/// Doc comments name parameters that their declarations have.
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

extension Package.File {
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
