import FoundationEssentials

/// The package's sources, as text.
enum PackageText {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    struct File: Sendable {
        /// Relative to `Sources`.
        let path: String
        let text: String
    }

    /// Swift, C and Lua, sorted by path, without the catalogue of error codes.
    static func files() throws -> [File] {
        let sources = root.appending(path: "Sources")
        let names = try FileManager.default.subpathsOfDirectory(atPath: sources.path).sorted()
        return names.filter { name in
            [".swift", ".lua", ".c"].contains(where: name.hasSuffix) && !name.contains("Reference/ErrorCatalogue")
        }.map { File(path: $0, text: text(of: sources.appending(path: $0))) }
    }

    /// A file below the package's root, empty when it is not there.
    static func text(_ path: String) -> String { text(of: root.appending(path: path)) }

    private static func text(of file: URL) -> String {
        String(decoding: FileManager.default.contents(atPath: file.path) ?? Data(), as: UTF8.self)
    }
}
