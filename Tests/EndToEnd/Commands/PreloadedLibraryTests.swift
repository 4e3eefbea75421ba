import Foundation
import HostSupport
import Support
import Testing

/// The program with a library in `LD_PRELOAD`.
@Suite struct PreloadedLibraryTests {
    private static let path = ProcessInfo.processInfo.environment["PATH"] ?? ""

    /// The C compiler that builds the package; nil if it is not in `PATH`.
    private static let compiler = path.split(separator: ":").lazy.flatMap { folder in ["clang", "cc"].map { "\(folder)/\($0)" } }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test(.enabled(if: compiler != nil, "needs a C compiler"))
    func `Arguments are found if a preloaded library sets a variable, which moves the environment`() async throws {
        let folder = try ScriptFolder()
        let source = """
            #include <stdlib.h>
            __attribute__((constructor)) static void move_environment(void) { setenv("MOVED", "1", 1); }
            """
        try folder.write("moving.c", Data(source.utf8))
        let built = try await BuiltProgram.run(
            ["-shared", "-fPIC", "-o", "moving.so", "moving.c"], tool: URL(filePath: try #require(Self.compiler)), in: folder.url,
            environment: ["PATH": Self.path])
        try #require(built.status == 0, "\(built.errors)")
        let library = ["LD_PRELOAD": folder.url.appending(path: "moving.so").path]
        // The library is loaded.
        let moved = try await BuiltProgram.run(["-c", "echo $MOVED"], tool: URL(filePath: "/bin/sh"), in: folder.url, environment: library)
        try #require(moved.output == "1\n", "\(moved.output)\(moved.errors)")
        for words in [["explain", "storage.damaged"], ["explain", "no.such.page"], ["--version"], ["check", ""]] {
            let plain = try await BuiltProgram.run(words, in: folder.url)
            let preloaded = try await BuiltProgram.run(words, in: folder.url, environment: library)
            #expect(preloaded.status == plain.status && preloaded.output == plain.output, "\(words): \(preloaded.output)")
            #expect(preloaded.errors == plain.errors, "\(words): \(preloaded.errors)")
        }
    }
}
