import FoundationEssentials

/// The sources of the package as text.
enum PackageText {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    struct File: Sendable {
        /// Relative to `Sources`.
        let path: String
        let text: String
    }

    /// All Swift, C and Lua files sorted by path, without the catalogue of error codes and the search words, which name codes.
    static func files() throws -> [File] {
        let sources = root.appending(path: "Sources")
        let names = try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted()
        return names.filter { name in
            [".swift", ".lua", ".c"].contains(where: name.hasSuffix)
                && !(name.hasPrefix("Bindings/Errors/") && name.hasSuffix("Errors.swift"))
                && !name.hasSuffix("Reference/SearchWords.swift")
        }.map { File(path: $0, text: text(of: sources.appending(path: $0))) }
    }

    /// A file, by its path from the root of the package; empty if it does not exist.
    static func text(_ path: String) -> String { text(of: root.appending(path: path)) }

    private static func text(of file: URL) -> String {
        String(decoding: FileManager.default.contents(atPath: file.path) ?? Data(), as: UTF8.self)
    }
}
