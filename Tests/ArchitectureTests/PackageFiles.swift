import FoundationEssentials
import Testing

/// The package's sources, as text.
enum Package {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct File: Sendable, CustomTestStringConvertible {
        /// Relative to the root.
        let path: String
        let text: String

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
        var target: String { String(path.split(separator: "/")[1]) }
        var testDescription: String { path }
    }

    /// Swift files under a folder, sorted by path.
    static func swiftFiles(in folder: String) throws -> [File] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        return names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
            let data = FileManager.default.contents(atPath: root.appending(path: "\(folder)/\(name)").path)
            return File(path: "\(folder)/\(name)", text: String(decoding: data ?? Data(), as: UTF8.self))
        }
    }

    static func manifest() throws -> String {
        try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
    }
}

extension Package.File {
    /// The modules that the file imports, without attributes and access levels.
    var imports: [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "import"), words[..<place].allSatisfy(\.isImportModifier),
                place + 1 < words.count
            else { return nil }
            let kinds = ["struct", "class", "enum", "func", "typealias", "protocol", "var", "let"]
            let name = kinds.contains(String(words[place + 1])) ? words[place + 2] : words[place + 1]
            return String(name.prefix { $0 != "." })
        }
    }

    /// The lines with what stands in comments and in literals left out, numbered from 1.
    var code: [(number: Int, text: String)] {
        lines.enumerated().map { index, line in
            var text = ""
            var isQuoted = false
            var previous: Character?
            for character in line {
                if character == "\"", previous != "\\" { isQuoted.toggle() }
                if !isQuoted, character == "/", previous == "/" {
                    text.removeLast()
                    break
                }
                if !isQuoted { text.append(character) }
                previous = previous == "\\" && character == "\\" ? nil : character
            }
            return (index + 1, text)
        }
    }
}

extension Substring {
    fileprivate var isImportModifier: Bool {
        hasPrefix("@") || ["public", "package", "internal", "fileprivate", "private"].contains(self)
    }
}
