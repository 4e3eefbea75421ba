import FoundationEssentials
import Glibc
import Testing

/// The example in the guide is a working program.
@Suite struct ExampleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Each fenced block of the guide in this language, as a whole.
    private static func blocks(_ language: String) throws -> [String] {
        let guide = try String(contentsOf: root.appending(path: "docs/how-to/embedding.md"), encoding: .utf8)
        return try guide.split(separator: "```\(language)\n", omittingEmptySubsequences: false).dropFirst().map { rest in
            String(rest[..<(try #require(rest.firstRange(of: "```")).lowerBound)])
        }
    }

    /// A file of the example, as compiled by the build.
    private static func source(_ name: String) throws -> String {
        try String(contentsOf: root.appending(path: "Examples/Embedding/\(name)"), encoding: .utf8)
    }

    @Test func `the guide shows the program unchanged, in less than 30 lines`() throws {
        let source = try Self.source("main.swift")
        #expect(try Self.blocks("swift").first == source)
        #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 30)
    }

    @Test func `other Swift code in the guide is compiled with the program`() throws {
        let compiled = "\n" + (try Self.source("Functions.swift"))
        let others = try Self.blocks("swift").dropFirst()
        #expect(!others.isEmpty)
        for block in others { #expect(compiled.contains("\n" + block), "\(block)") }
    }

    @Test func `the program prints what the guide shows`() throws {
        var path = [CChar](repeating: 0, count: 4_097)
        let count = readlink("/proc/self/exe", &path, 4_096)
        let tests = String(decoding: path.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let folder = tests.prefix(upTo: try #require(tests.lastIndex(of: "/")))
        let pipe = try #require(popen("'\(folder)/EmbeddingExample' 2>&1", "r"))
        var output: [UInt8] = []
        while case let byte = fgetc(pipe), byte != EOF { output.append(UInt8(truncatingIfNeeded: byte)) }
        #expect(pclose(pipe) == 0)
        #expect(String(decoding: output, as: UTF8.self) == (try Self.blocks("text").first))
    }
}
