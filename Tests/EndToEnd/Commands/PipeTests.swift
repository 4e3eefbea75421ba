import HostSupport
import Support
import Testing

/// Scripts that are read from pipes, including pipes without a writer.
@Suite(.timeLimit(.minutes(10))) struct PipeTests {
    private static let flow = "print 'through a pipe'"
    private static let spec = "require('push').test.it('holds', function() end)"

    /// Runs a shell line and kills it if it hangs.
    private func shell(_ line: String, in folder: ScriptFolder) async throws -> BuiltProgram {
        try await BuiltProgram.shell("timeout -s KILL 600 sh -c '\(line.replacing("'", with: "'\\''"))'", in: folder.url)
    }

    @Test(arguments: [
        "cat flow.lua | $P run /dev/stdin", "cat flow.lua | { $P run /dev/fd/3 3<&0; }", "mkfifo f && { cat flow.lua > f & $P run f; }",
        "mkfifo f && { { head -c 9 flow.lua; tail -c +10 flow.lua; } > f & $P run f --timeout 500s; }",
    ])
    func `a flow can be read from a pipe`(line: String) async throws {
        let run = try await shell(line, in: ScriptFolder(["flow.lua": Self.flow]))
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("│ through a pipe"))
    }

    @Test func `specs and scripts to check can be read from a pipe`() async throws {
        let folder = try ScriptFolder(["spec.lua": Self.spec])
        #expect(try await shell("cat spec.lua | $P test /dev/stdin", in: folder).output.contains("✓ holds"))
        #expect(try await shell("echo 'retrn 1' | $P check /dev/stdin", in: folder).output.contains("/dev/stdin:1"))
        #expect(try await shell("true | $P check /dev/stdin", in: folder).status == 0)
    }

    @Test(arguments: ["run f", "run f --json", "run f --help", "test f"], ["INT", "TERM"])
    func `a signal ends waiting for a pipe`(arguments: String, signal: String) async throws {
        // Opening the pipe blocks until the program has opened it. The script written to it never ends.
        let line = "mkfifo f && { $P \(arguments) & exec 3>f; printf print >&3; kill -\(signal) $!; wait $!; }"
        let run = try await shell(line, in: ScriptFolder([:]))
        #expect(run.status == 130, "\(run.output)\(run.errors)")
        #expect(arguments.contains("--json") ? run.output.contains("\"exit_code\": 130") : run.output == "")
        #expect(run.errors == "")
    }

    @Test(arguments: ["$P run f", "{ sleep 50 > f 2>&1 & }; $P run f", "$P test f"])
    func `waiting for a pipe ends at the timeout of the run`(line: String) async throws {
        let line = "mkfifo f && { \(line) --timeout 100ms; status=$?; kill $!; exit $status; } 2>&1"
        let run = try await shell(line, in: ScriptFolder([:]))
        #expect(run.status == 3, "\(run.output)\(run.errors)")
        #expect(run.output.contains("error[budget.wall]"), "\(run.output)")
    }

    @Test(arguments: [".", "./", "..", "lib/.."])
    func `a nested flow must not be a folder`(path: String) async throws {
        let folder = try ScriptFolder(["flow.lua": "require('push').run '\(path)'", "lib/a.lua": ""])
        let run = try await BuiltProgram.run(["run", "flow.lua"], in: folder.url)
        #expect(run.status == 1)
        #expect(
            run.errors.contains("error[script.outside]: \(path == ".." ? ".." : ".") is not a script of the project"), "\(run.errors)")
    }

    @Test func `a nested flow must not be a pipe`() async throws {
        let run = try await shell("mkfifo f.lua && $P run flow.lua", in: ScriptFolder(["flow.lua": "require('push').run 'f.lua'"]))
        #expect(run.status == 1)
        #expect(run.errors.contains("f.lua cannot be read: it is not a file"), "\(run.errors)")
    }

    @Test func `in a folder only regular files are read, and pipes are skipped`() async throws {
        let line = """
            mkdir more && mkfifo a.lua a_spec.lua more/b_spec.lua && ln -s a_spec.lua l_spec.lua && ln -s c_spec.lua d_spec.lua \
            && ln -s nothing n_spec.lua && $P check && $P check . more && $P test .
            """
        let run = try await shell(line, in: ScriptFolder(["c_spec.lua": Self.spec]))
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.ranges(of: "✓ holds").count == 2, "\(run.output)")
    }

    @Test func `a dangling link is not suggested in place of itself`() async throws {
        let folder = try ScriptFolder(["flow.lua": "require 'q'"])
        let run = try await shell(
            "ln -s nothing q.lua; $P run flow.lua; $P check q.lua; $P run q.lua; $P check ./q.lua; $P run q", in: folder)
        #expect(run.errors.contains("unknown module 'q'"))
        #expect(run.errors.ranges(of: "q.lua does not exist").count == 3, "\(run.errors)")
        #expect(!run.errors.contains("did you mean"), "\(run.errors)")
    }

    @Test func `secrets must not come from a pipe`() async throws {
        let run = try await shell("mkfifo secrets.json && $P run flow.lua", in: ScriptFolder(["flow.lua": Self.flow]))
        #expect(run.status == 2)
        #expect(run.errors.contains("secrets.json cannot be read: it is not a file"))
    }
}
