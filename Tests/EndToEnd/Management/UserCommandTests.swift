import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// `pushhost user`, over the socket and over the network.
@Suite struct UserCommandTests {
    /// Runs shell lines, in which `$P` is the program, with a server.
    private static func serving(_ body: (_ run: @escaping (String) async throws -> BuiltProgram, _ folder: URL) async throws -> Void)
        async throws
    {
        try await serving { _, run, folder in try await body(run, folder) }
    }

    private static func serving(
        _ body: (_ port: Int, _ run: @escaping (String) async throws -> BuiltProgram, _ folder: URL) async throws -> Void
    ) async throws {
        let folder = try ScriptFolder(["pushhost.yaml": "listen: { port: 0, tls_port: none }\nlog: { level: error }\n"])
        let server = try Dialogue(["serve"], in: folder.url)
        let screen = try await server.hear("Press Ctrl-C to stop.")
        let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        try await body(port, { try await BuiltProgram.shell($0, in: folder.url) }, folder.url)
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test func `Users can be added, listed, removed and given another password`() async throws {
        try await Self.serving { run, _ in
            let added = try await run("echo UNSPEAKABLE | $P user add alice --password-stdin")
            #expect(added.status == 0 && added.output == "✓ user alice added\n")
            #expect(try await run("printf 'no line end' | $P user add Bob --password-stdin").status == 0)
            #expect(try await run("$P user list").output == "USER\nalice\nBob\n")
            let listed = try JSON(parsing: try await run("$P user list --json").output)
            #expect(listed["result"] == ["items": [["username": "alice"], ["username": "Bob"]]] && listed["exit_code"] == 0)
            let changed = try await run("echo another | $P user passwd BOB --password-stdin")
            #expect(changed.status == 0 && changed.output == "✓ changed the password of BOB\n")
            #expect(try await run("$P user remove bob --yes").output == "✓ user bob removed\n")
            #expect(try await run("$P user list").output == "USER\nalice\n")
        }
    }

    @Test func `An impossible command is rejected clearly, and no password is printed`() async throws {
        try await Self.serving { run, _ in
            #expect(try await run("echo UNSPEAKABLE | $P user add alice --password-stdin").status == 0)
            for (line, status, words) in [
                ("echo UNSPEAKABLE | $P user add Alice --password-stdin", 4, "auth.account_exists"),
                ("echo UNSPEAKABLE | $P user add 'a b' --password-stdin", 2, "invalid user name \"a b\": it contains a space"),
                ("echo UNSPEAKABLE | $P user passwd alcie --password-stdin", 4, "did you mean \"alice\"?"),
                ("$P user remove nobody --yes", 4, "unknown account \"nobody\""),
                (#"printf 'UNSPEAKABLE\nmore\n' | $P user add bob --password-stdin"#, 2, "standard input has more than one line"),
                (#"printf 'UNSPEAKABLE\nmore' | $P user passwd alice --password-stdin"#, 2, "it cannot contain line breaks"),
                (#"printf 'UNSPEAKABLE\n\n' | $P user passwd alice --password-stdin"#, 2, "standard input has more than one line"),
                ("echo | $P user add bob --password-stdin", 2, "the password is empty"),
                ("$P user add bob --password-stdin < /dev/null", 2, "the password is empty"),
                ("$P user add bob < /dev/null", 2, "not a terminal"), ("$P user remove alice < /dev/null", 2, "pass --yes"),
                ("$P user add '' < /dev/null", 2, "the user name is empty"), ("$P user add bob UNSPEAKABLE", 2, "unexpected argument"),
            ] {
                let program = try await run(line)
                #expect(program.status == status, "\(line)")
                let text = program.output + program.errors
                #expect(text.contains(words), "\(line): \(text)")
                #expect(!text.contains("UNSPEAKABLE") || line.hasSuffix("UNSPEAKABLE"))
            }
        }
    }

    @Test func `A password that arrives in parts is read completely, even from a non-blocking pipe`() async throws {
        try await Self.serving { port, run, _ in
            let client = BuiltProgram.root.appending(path: "Tests/EndToEnd/Clients/hesitant.py").path
            #expect(try await run("python3 \(client) $P user add dave --password-stdin").output == "✓ user dave added\n")
            for (password, status) in [("sec", 403), ("secret", 200)] {
                let connection = try WireConnection(port: port)
                let credentials = Data("dave:\(password)".utf8).base64EncodedString()
                await connection.send("GET /api/notifications HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic \(credentials)\r\n\r\n")
                #expect(try await connection.answer()?.status == status)
            }
            let unreadable = try await run("$P user add eve --password-stdin < /")
            #expect(unreadable.status == 2 && unreadable.errors.contains("cannot be read from standard input: Is a directory"))
        }
    }

    @Test func `A password is read up to the line end, without waiting for the end of input`() async throws {
        try await Self.serving { run, folder in
            let writer = try Dialogue(["user", "add", "alice", "--password-stdin"], in: folder)
            writer.say("UNSPEAKABLE\n")
            try await writer.hear("user alice added")
            #expect(await writer.end(closingInput: false).status == 0)
            #expect(try await run(#"printf 'UNSPEAKABLE\r\n' | $P user passwd alice --password-stdin"#).status == 0)
            let broken = try await run(#"printf 'UNSPEAK\377' | $P user passwd alice --password-stdin"#)
            #expect(broken.status == 2 && broken.errors.contains("the password is not UTF-8"))
            try Data("UNSPEAKABLE\n".utf8).write(to: folder.appending(path: "one"))
            #expect(try await run("$P user passwd alice --password-stdin < one").status == 0)
            // The second line is not in the first chunk read.
            try Data((String(repeating: "a", count: 4095) + "\nb").utf8).write(to: folder.appending(path: "two"))
            let more = try await run("$P user passwd alice --password-stdin < two")
            #expect(more.status == 2 && more.errors.contains("standard input has more than one line"))
        }
    }

    @Test func `Ctrl-backslash at the prompt restores the terminal`() async throws {
        try await Self.serving { _, folder in
            let shell = try Dialogue(
                ["-c", "trap : QUIT; $P user add bob; stty -a"], tool: "/bin/sh", in: folder, onTerminal: true)
            try await shell.hear("Password of bob: ")
            shell.say("\u{1C}")
            let end = await shell.end(closingInput: false)
            #expect(end.output.contains(" echo ") && !end.output.contains("-echo "), "\(end.output)")
        }
    }

    @Test(arguments: [["user", "list", "--bogus"], ["user", "add"], ["notification", "cancel"], ["notification", "list", "--bogus"]])
    func `an invalid command line is rejected in JSON with --json`(words: [String]) async throws {
        let refused = try await BuiltProgram.run(words + ["--json"])
        let json = try JSON(parsing: refused.output)
        #expect(refused.status == 2 && refused.errors.isEmpty)
        #expect(json["schema"] == "pushhost.manage/1" && json["exit_code"] == 2 && json["error"]?["code"] != nil, "\(refused.output)")
    }

    @Test func `On a terminal a password is typed twice and not shown`() async throws {
        try await Self.serving { run, folder in
            for (command, name, second, status, words) in [
                ("add", "alice", "UNSPEAKABLE", Int32(0), "user alice added"),
                ("passwd", "alice", "UNSPEAKABEL", 2, "the two passwords differ"),
                ("add", "bob", "UNSPEAKABEL", 2, "the two passwords differ"), ("add", "bob", "", 2, "the two passwords differ"),
            ] {
                let typed = try Dialogue(["user", command, name], in: folder, onTerminal: true)
                var output = try await typed.hear("Password of \(name): ")
                typed.say("UNSPEAKABLE\n")
                output += try await typed.hear("Repeat: ")
                typed.say("\(second)\n")
                let end = await typed.end(closingInput: false)
                output += end.output
                #expect(end.status == status && output.contains(words) && !output.contains("UNSPEAK"), "\(output)")
            }
            // An empty password is not asked for again.
            let silent = try Dialogue(["user", "add", "bob"], in: folder, onTerminal: true)
            try await silent.hear("Password of bob: ")
            silent.say("\n")
            let end = await silent.end(closingInput: false)
            #expect(end.status == 2 && end.output.contains("the password is empty") && !end.output.contains("again"))
            #expect(try await run("$P user list").output == "USER\nalice\n")
        }
    }
}
