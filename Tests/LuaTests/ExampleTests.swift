import FoundationEssentials
import Glibc
import Testing

/// The example of the guide is a program that runs.
@Suite struct ExampleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func block(_ language: String) throws -> String {
        let guide = try String(contentsOf: root.appending(path: "docs/embedding.md"), encoding: .utf8)
        let start = try #require(guide.firstRange(of: "```\(language)\n"))
        let end = try #require(guide[start.upperBound...].firstRange(of: "```"))
        return String(guide[start.upperBound..<end.lowerBound])
    }

    @Test func `the guide shows the program as it is, in less than 30 lines`() throws {
        let source = try String(contentsOf: Self.root.appending(path: "Examples/Embedding/main.swift"), encoding: .utf8)
        #expect(try Self.block("swift") == source)
        #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 30)
    }

    @Test func `it prints what the guide shows`() throws {
        var path = [CChar](repeating: 0, count: 4_097)
        let count = readlink("/proc/self/exe", &path, 4_096)
        let tests = String(decoding: path.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let folder = tests.prefix(upTo: try #require(tests.lastIndex(of: "/")))
        let pipe = try #require(popen("'\(folder)/EmbeddingExample' 2>&1", "r"))
        var output: [UInt8] = []
        while case let byte = fgetc(pipe), byte != EOF { output.append(UInt8(truncatingIfNeeded: byte)) }
        #expect(pclose(pipe) == 0)
        #expect(String(decoding: output, as: UTF8.self) == (try Self.block("text")))
    }
}
