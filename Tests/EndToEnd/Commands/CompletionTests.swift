import Foundation
import HostSupport
import Support
import Testing

@Suite struct CompletionTests {
    @Test(arguments: [("bash", "complete -o filenames"), ("zsh", "#compdef pushhost"), ("fish", "complete -c 'pushhost'")])
    func `a completion script is printed for each shell`(shell: String, part: String) async throws {
        for arguments in [["--generate-completion-script", shell], ["--generate-completion-script=\(shell)"]] {
            let script = try await BuiltProgram.run(arguments)
            #expect(script.status == 0)
            #expect(script.errors == "")
            #expect(script.output.contains(part))
            for command in ["run", "init", "explain"] { #expect(script.output.contains(command), "\(command)") }
        }
    }

    @Test func `an unknown shell is rejected`() async throws {
        #expect(try await BuiltProgram.run(["--generate-completion-script", "tcsh"]).status != 0)
    }

    /// The completions that bash offers for a line.
    private func offers(_ words: [String], in folder: URL) async throws -> [String] {
        let script = try await BuiltProgram.run(["--generate-completion-script", "bash"]).output
        try Data(script.utf8).write(to: folder.appending(path: "completion.bash"))
        let check = try await BuiltProgram.run(["-n", "completion.bash"], tool: URL(filePath: "/bin/bash"), in: folder)
        #expect(check.status == 0 && check.errors == "", "\(check.errors)")
        let line = words.joined(separator: " ")
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let driver = """
            . ./completion.bash
            COMP_WORDS=(\(quoted)) COMP_CWORD=\(words.count - 1) COMP_LINE='\(line)' COMP_POINT=\(line.count)
            _pushhost pushhost '\(words.last ?? "")' '\(words.dropLast().last ?? "")'
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let offered = try await BuiltProgram.run(["-c", driver], tool: URL(filePath: "/bin/bash"), in: folder)
        #expect(offered.status == 0, "\(offered.errors)")
        return offered.output.split(separator: "\n").map(String.init)
    }

    @Test func `bash completes commands, scripts and names`() async throws {
        let folder = try ScriptFolder(["flow.lua": "", "notes.txt": ""])
        #expect(try await offers(["pushhost", "ex"], in: folder.url) == ["explain"])
        let files = try await offers(["pushhost", "run", ""], in: folder.url)
        #expect(files.contains("flow.lua"))
        #expect(!files.contains("notes.txt"))
        #expect(try await offers(["pushhost", "run", "--se"], in: folder.url) == ["--seed"])
        #expect(try await offers(["pushhost", "explain", "push.sen"], in: folder.url) == ["push.send"])
        #expect(try await offers(["pushhost", "explain", "hub.no_t"], in: folder.url) == ["hub.no_target"])
    }
}
