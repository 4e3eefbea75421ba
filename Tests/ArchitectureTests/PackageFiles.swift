import FoundationEssentials
import Glibc
import Synchronization
import Testing

/// The package's sources, as text.
enum Package {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct File: Sendable, CustomTestStringConvertible {
        /// Relative to the root.
        let path: String
        let text: String
        let lines: [Substring]
        /// The lines without comments and literals, numbered from 1.
        let code: [Line]

        init(path: String, text: String) {
            self.path = path
            self.text = text
            lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            code = lines.enumerated().map { Line(number: $0 + 1, text: Line.code(of: $1)) }
        }

        var target: String { String(path.split(separator: "/")[1]) }
        var testDescription: String { path }

        /// The lines of code that contain one of the texts. A debug build searches bytes a hundred times faster than characters.
        func code(with texts: [String]) -> [Line] {
            let found = texts.filter(text.containsBytes)
            return found.isEmpty ? [] : code.filter { line in found.contains(where: line.text.containsBytes) }
        }
    }

    /// A line of code.
    struct Line: Sendable {
        let number: Int
        let text: String

        fileprivate static func code(of line: Substring) -> String {
            var code: [UInt8] = []
            var isQuoted = false
            var previous: UInt8?
            for byte in line.utf8 {
                if byte == UInt8(ascii: "\""), previous != UInt8(ascii: "\\") { isQuoted.toggle() }
                if !isQuoted, byte == UInt8(ascii: "/"), previous == byte {
                    code.removeLast()
                    break
                }
                if !isQuoted { code.append(byte) }
                previous = previous == UInt8(ascii: "\\") && previous == byte ? nil : byte
            }
            return String(decoding: code, as: UTF8.self)
        }
    }

    private static let known = Mutex<[String: [File]]>([:])

    /// Swift files under a folder, sorted by path. Read once.
    static func swiftFiles(in folder: String) throws -> [File] {
        try known.withLock { known in
            if let files = known[folder] { return files }
            let names = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            let files = names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
                let data = FileManager.default.contents(atPath: root.appending(path: "\(folder)/\(name)").path)
                return File(path: "\(folder)/\(name)", text: String(decoding: data ?? Data(), as: UTF8.self))
            }
            known[folder] = files
            return files
        }
    }

    static func manifest() throws -> String {
        try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
    }
}

extension Package.File {
    var declarationsOfTypes: [Package.Line] {
        code(with: ["class ", "struct ", "enum ", "actor ", "protocol ", "typealias ", "associatedtype "])
    }

    /// The modules that the file imports, without attributes and access levels.
    var imports: [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), words[..<index].allSatisfy(\.isImportModifier),
                index + 1 < words.count
            else { return nil }
            let kinds = ["struct", "class", "enum", "func", "typealias", "protocol", "var", "let"]
            let name = kinds.contains(String(words[index + 1])) ? words[index + 2] : words[index + 1]
            return String(name.prefix { $0 != "." })
        }
    }
}

extension String {
    func containsBytes(_ text: String) -> Bool { withCString { bytes in text.withCString { strstr(bytes, $0) != nil } } }
}

extension Substring {
    fileprivate var isImportModifier: Bool {
        hasPrefix("@") || ["public", "package", "internal", "fileprivate", "private"].contains(self)
    }
}
