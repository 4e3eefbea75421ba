import Foundation
import HostSupport
import Support
import Testing

/// The commands of docs/how-to/operating.md and other guides, run in sequence, each page with its own server.
@Suite struct OperatingPageTests {
    private struct Step {
        let command: String
        var output = ""

        /// An ellipsis matches anything within a line, or any number of whole lines.
        func matches(_ text: String) -> Bool {
            var rest = text[...]
            let parts = output.split(separator: "…", omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                guard let found = index == 0 ? (rest.hasPrefix(part) ? rest.firstRange(of: part) : nil) : rest.firstRange(of: part) else {
                    return part.isEmpty
                }
                rest = rest[found.upperBound...]
            }
            return rest.isEmpty || parts.last?.isEmpty == true
        }
    }

    /// - Parameter word: the word after `console` at the start of a block.
    private static func steps(_ page: String, _ word: String) -> [Step] {
        let page = (try? String(contentsOf: BuiltProgram.root.appending(path: "docs/how-to/\(page).md"), encoding: .utf8)) ?? ""
        var steps: [Step] = []
        for block in page.components(separatedBy: "```console \(word)\n").dropFirst() {
            for line in block[..<(block.range(of: "```")?.lowerBound ?? block.endIndex)].split(separator: "\n") {
                if line.hasPrefix("$ ") {
                    steps.append(Step(command: String(line.dropFirst(2))))
                } else {
                    steps[steps.count - 1].output += line + "\n"
                }
            }
        }
        return steps
    }

    /// The Python blocks of a page.
    private static func scripts(_ page: String) -> [String] {
        let page = (try? String(contentsOf: BuiltProgram.root.appending(path: "docs/how-to/\(page).md"), encoding: .utf8)) ?? ""
        return page.components(separatedBy: "```python\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    /// The files that a page shows with their names: blocks that begin with "```lua scripts/x.lua" or "```yaml pushhost.yaml".
    private static func files(_ page: String) -> [String: String] {
        let page = (try? String(contentsOf: BuiltProgram.root.appending(path: "docs/how-to/\(page).md"), encoding: .utf8)) ?? ""
        var files: [String: String] = [:]
        for match in page.matches(of: /(?s)```(?:lua|yaml) (\S+\.(?:lua|yaml))\n(.*?)```/) { files[String(match.1)] = String(match.2) }
        return files
    }

    @Test(arguments: [
        ("automation", "server", "lab: on\n", 15),
        ("operating", "server", "lab: on\n", 13), ("planning", "planning", "lab: on\n", 11), ("credentials", "credentials", "", 6),
        ("tracing", "server", "lab: on\n", 7), ("backups", "server", "lab: on\n", 2),
        ("approvals-and-audit", "server", "guard: { ceiling: 2 }\nlab: on\n", 17),
    ])
    func `Every command prints what the page shows`(page: String, word: String, settings: String, least: Int) async throws {
        let steps = Self.steps(page, word)
        #expect(steps.count >= least)
        var files = Self.files(page)
        files["pushhost.yaml"] = "\(settings)listen: { port: 0, tls_port: none }\nlog: { level: error }\n\(files["pushhost.yaml"] ?? "")"
        let folder = try ScriptFolder(files)
        for script in Self.scripts(page) { try Data(script.utf8).write(to: folder.url.appending(path: "check.py")) }
        let server = try Dialogue(["serve"], in: folder.url)
        try await server.hear("Press Ctrl-C to stop.")
        for step in steps {
            let program = try await BuiltProgram.shell(
                step.command.replacing(/(^|\$\(|\| )pushhost/) { "\($0.1)\"$P\"" } + " 2>&1", in: folder.url)
            #expect(program.status == 0, "\(step.command)")
            #expect(step.matches(program.output), "\(step.command)\n\(program.output)")
        }
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test func `Every command is on the page and in the completion, and --help lists its exit codes or its subcommands`() async throws {
        let page = try String(contentsOf: BuiltProgram.root.appending(path: "docs/how-to/operating.md"), encoding: .utf8)
        let completion = try await BuiltProgram.run(["--generate-completion-script", "bash"]).output
        for command in [
            "hub", "key", "user", "send", "notification", "trace", "devices", "pruned", "tags", "status", "doctor", "audit", "approvals",
        ] {
            #expect(page.contains("$ pushhost \(command)"), "\(command)")
            #expect(completion.contains("_pushhost_\(command)"), "\(command)")
            #expect(try await BuiltProgram.run([command, "--help"]).status == 0)
        }
    }
}
