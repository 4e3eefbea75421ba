import Foundation
import HostSupport
import Testing

/// The documentation matches the program: every command on a page prints the output shown below it.
@Suite struct DocumentationTests {
    struct Example: Sendable, CustomTestStringConvertible {
        var page: String
        var command: String
        var output: String

        var testDescription: String { "\(page): \(command)" }
    }

    /// Pages that `make docs` writes from the sources. Their blocks are parts of scripts.
    private static let generated = Set(["errors", "lua", "phases", "settings"].map { "docs/reference/\($0).md" })

    /// The README and the pages that are written by hand.
    static let pages = MarkdownPage.all.map(\.path).filter { path in
        path == "README.md" || path.hasPrefix("docs/") && !generated.contains(path)
    }

    /// The blocks that begin with "```console" and a line "$ command".
    static let examples: [Example] = pages.flatMap { page -> [Example] in
        let text = (try? String(contentsOf: BuiltProgram.root.appending(path: page), encoding: .utf8)) ?? ""
        return text.components(separatedBy: "```console\n$ ").dropFirst().compactMap { block -> Example? in
            guard let end = block.range(of: "```"), let line = block.firstIndex(of: "\n"), line < end.lowerBound else { return nil }
            let output = block[block.index(after: line)..<end.lowerBound]
            return Example(page: page, command: String(block[..<line]), output: String(output))
        }
    }

    @Test(arguments: examples)
    func `a command prints what the page shows; make docs updates the page`(_ example: Example) async throws {
        let command = example.command.replacing("./pushhost", with: "\"$P\"") + " 2>&1"
        let program = try await BuiltProgram.shell(command)
        #expect(program.output == example.output)
    }

    /// The blocks that begin with "```console new-folder": their commands run in sequence, in one shell, in an empty folder.
    static let sessions: [Example] = pages.flatMap { page -> [Example] in
        let text = (try? String(contentsOf: BuiltProgram.root.appending(path: page), encoding: .utf8)) ?? ""
        return text.components(separatedBy: "```console new-folder\n").dropFirst().map { block in
            let body = String(block[..<(block.range(of: "```")?.lowerBound ?? block.endIndex)])
            let commands = body.split(separator: "\n").filter { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) }
            return Example(page: page, command: commands.joined(separator: "\n"), output: body)
        }
    }

    @Test(arguments: sessions)
    func `a session in a new folder prints what the page shows`(_ session: Example) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushhost-docs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder.appending(path: "bin"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(at: folder.appending(path: "work"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = session.command.split(separator: "\n").map { command in
            "printf '%s\\n' '$ \(command.replacing("'", with: "'\\''"))'\n\(command) 2>&1"
        }
        let script = "ln -s \"$P\" bin/pushhost; PATH=\"$PWD/bin:$PATH\"; cd work\n" + lines.joined(separator: "\n")
        let program = try await BuiltProgram.shell(script, in: folder)
        #expect(program.output == session.output)
    }

    /// Whole scripts on the pages and the commands of the CI recipes. They run in a project with the bundled scripts.
    static let scripts: [Example] = pages.flatMap { page -> [Example] in
        let text = (try? String(contentsOf: BuiltProgram.root.appending(path: page), encoding: .utf8)) ?? ""
        let scripts = text.components(separatedBy: "```lua\n").dropFirst().map { block in
            let source = String(block[..<(block.range(of: "```")?.lowerBound ?? block.endIndex)])
            return Example(
                page: page,
                command: source.contains("push.test.") ? "pushhost test scripts/spec/page_spec.lua" : "pushhost run scripts/page.lua",
                output: source)
        }
        return scripts
            + text.matches(of: /(?m)^.*(?:run|script): (pushhost .*)$/).map { Example(page: page, command: String($0.1), output: "") }
    }

    @Test(arguments: scripts)
    func `a script on a page, or a command of a recipe, passes`(_ example: Example) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushhost-docs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(at: BuiltProgram.root.appending(path: "scripts"), to: folder.appending(path: "scripts"))
        if let path = example.command.split(separator: " ").last, path.contains("page") {
            try Data(example.output.utf8).write(to: folder.appending(path: String(path)))
        }
        let program = try await BuiltProgram.shell(example.command.replacing(/^pushhost/, with: "\"$P\""), in: folder)
        #expect(program.status == 0, "\(program.output)\(program.errors)")
    }

    @Test func `there are examples, and every example script is on a page`() throws {
        #expect(Self.examples.count >= 8)
        let commands = Self.examples.map(\.command).joined(separator: "\n")
        for folder in ["scripts", "docs/examples"] {
            for name in try FileManager.default.contentsOfDirectory(atPath: BuiltProgram.root.appending(path: folder).path)
            where name.hasSuffix(".lua") {
                #expect(commands.contains("\(folder)/\(name)"), "\(folder)/\(name) is on no page")
            }
        }
    }

    @Test func `every make command on the pages exists`() throws {
        let makefile = try String(contentsOf: BuiltProgram.root.appending(path: "Makefile"), encoding: .utf8)
        for page in MarkdownPage.all.map(\.path) {
            let text = try String(contentsOf: BuiltProgram.root.appending(path: page), encoding: .utf8)
            for match in text.matches(of: /(?:`|\n)make ([a-z]+)/) {
                #expect(makefile.contains("\n\(match.1):"), "\(page) names make \(match.1)")
            }
        }
    }
}
