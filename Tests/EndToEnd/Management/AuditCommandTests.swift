import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// `pushhost audit`: with a server, without one, and on modified logs.
@Suite struct AuditCommandTests {
    private static let tamper = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1])
        database.executescript("DROP TRIGGER audit_entry_unchanged; DROP TRIGGER audit_entry_kept;")
        database.executescript(sys.argv[2])
        database.commit()
        """

    /// Rewrites the whole chain with another subject in the second entry.
    private static let forge = """
        import hashlib, json, sqlite3, sys
        database = sqlite3.connect(sys.argv[1])
        database.executescript("DROP TRIGGER audit_entry_unchanged; UPDATE audit_entry SET subject = 'another' WHERE sequence = 2")
        end = bytes(32)
        rows = database.execute("SELECT sequence, time, actor, action, subject, outcome, details FROM audit_entry ORDER BY sequence").fetchall()
        for row in rows:
            content = json.dumps(list(row[:6]) + [json.loads(row[6])], ensure_ascii=False, separators=(",", ":"))
            end = hashlib.sha256(end + content.encode()).digest()
            database.execute("UPDATE audit_entry SET hash = ? WHERE sequence = ?", (end, row[0]))
        database.execute("UPDATE audit_end SET hash = ?", (end,))
        database.commit()
        """

    /// A data folder of a stopped server whose log has five entries, and the head of that log.
    private static func stopped() async throws -> (folder: ScriptFolder, end: String) {
        let folder = try ScriptFolder([
            "pushhost.yaml": "data: data\nlisten: { port: 0, tls_port: none }\nlog: { level: error }\n", "tamper.py": tamper,
            "forge.py": forge,
        ])
        let server = try Dialogue(["serve"], in: folder.url)
        try await server.hear("Press Ctrl-C to stop.")
        for arguments in [
            ["key", "create", "other", "--rights", "listen"], ["key", "create", "sender", "--rights", "send"],
            ["key", "rotate", "sender", "--primary"],
            ["key", "revoke", "sender", "--yes"], ["key", "revoke", "other", "--yes"],
        ] {
            let program = try await BuiltProgram.run(arguments, in: folder.url)
            #expect(program.status == 0, "\(program.errors)")
        }
        let verified = try await BuiltProgram.run(["audit", "verify", "--json"], in: folder.url)
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
        return (folder, try #require(try JSON(parsing: verified.output)["result"]?["end"]?.string))
    }

    @Test func `Without a server the data folder is read, and tampering is reported with the first affected entry`() async throws {
        let (folder, end) = try await Self.stopped()
        let whole = try await BuiltProgram.run(["audit", "verify", "--expect", end], in: folder.url)
        #expect(whole.status == 0)
        #expect(whole.output == "✓ the audit log is intact: 5 entries, including the expected head\n  head  \(end)\n", "\(whole.errors)")
        let listed = try await BuiltProgram.run(["audit", "list", "--action", "key.rotate", "--json"], in: folder.url)
        let entry = try #require(try JSON(parsing: listed.output)["result"]?["items"]?.array?.first)
        #expect(entry["actor"] == "owner" && entry["subject"] == "key:sender" && entry["details"] == ["value": "primary"])

        let copy = """
            INSERT INTO audit_entry SELECT PLACE, time, actor, action, subject, details, outcome, hash FROM audit_entry WHERE sequence = 2
            """
        let cases: [(sql: String, message: String)] = [
            ("UPDATE audit_entry SET actor = 'key:ann' WHERE sequence = 3", "entry 3 was modified"),
            ("UPDATE audit_entry SET outcome = 'maybe' WHERE sequence = 4", "entry 4 cannot be read"),
            ("DELETE FROM audit_entry WHERE sequence = 3", "entry 3 is missing"),
            ("DELETE FROM audit_entry WHERE sequence > 3", "entry 4 is missing"),
            ("DELETE FROM audit_entry WHERE sequence > 3; UPDATE audit_end SET sequence = 3", "entry 3 was modified"),
            (copy.replacing("PLACE", with: "6"), "entry 6 was modified"),
            (copy.replacing("PLACE", with: "0"), "entry 0 was never appended"),
            ("DELETE FROM audit_end", "the stored head of the log is missing: it was removed, possibly with entry 6"),
        ]
        for (number, (sql, message)) in cases.enumerated() {
            let shell = try await BuiltProgram.shell(
                "cp -r data data\(number) && python3 tamper.py data\(number)/pushhost.sqlite \"\(sql)\"", in: folder.url)
            #expect(shell.status == 0, "\(shell.errors)")
            let verified = try await BuiltProgram.run(["audit", "verify", "--data", "data\(number)"], in: folder.url)
            #expect(verified.status == 1, "\(sql)")
            #expect(verified.output.hasPrefix("✗ the audit log is broken: \(message)"), "\(sql): \(verified.output)\(verified.errors)")
        }
        // A completely rewritten chain is detected only by a recorded head.
        #expect(try await BuiltProgram.shell("python3 forge.py data/pushhost.sqlite", in: folder.url).status == 0)
        #expect(try await BuiltProgram.run(["audit", "verify"], in: folder.url).status == 0)
        let forged = try await BuiltProgram.run(["audit", "verify", "--expect", end, "--json"], in: folder.url)
        #expect(forged.status == 1)
        let answer = try #require(try JSON(parsing: forged.output)["result"])
        #expect(answer["whole"] == false && answer["reason"] == "replaced" && answer["brokenAt"] == 5)
    }

    @Test func `An exported log can be verified as a file, and a changed line is reported`() async throws {
        let (folder, end) = try await Self.stopped()
        let exported = try await BuiltProgram.run(["audit", "export", "--out", "audit.jsonl"], in: folder.url)
        #expect(exported.status == 0 && exported.output == "✓ exported 5 entries to audit.jsonl\n  head  \(end)\n", "\(exported.errors)")
        let taken = try await BuiltProgram.run(["audit", "export", "--out", "audit.jsonl"], in: folder.url)
        #expect(taken.status == 2 && taken.errors.contains("error[audit.file]: the file audit.jsonl already exists"), "\(taken.errors)")
        let printed = try await BuiltProgram.run(["audit", "export"], in: folder.url)
        #expect(printed.output == (try String(contentsOf: folder.url.appending(path: "audit.jsonl"), encoding: .utf8)))
        let whole = try await BuiltProgram.run(["audit", "verify", "audit.jsonl", "--expect", end], in: folder.url)
        #expect(whole.status == 0 && whole.output.contains("5 entries, including the expected head"), "\(whole.output)\(whole.errors)")
        for (edit, message) in [
            ("sed s/key:sender/key:other/", "entry 2 was modified"), ("sed 3d", "entry 3 is missing"),
            ("sed 1d", "entry 1 is missing"), ("sed 4s/succeeded/never/", "entry 4 cannot be read"), ("head -n 3", "entry 4 is missing"),
            ("sed '3{h;d};4{G}'", "entry 3 is missing"),
        ] {
            #expect(try await BuiltProgram.shell("\(edit) audit.jsonl > edited.jsonl", in: folder.url).status == 0)
            let verified = try await BuiltProgram.run(["audit", "verify", "edited.jsonl", "--expect", end], in: folder.url)
            #expect(verified.status == 1 && verified.output.contains(message), "\(edit): \(verified.output)\(verified.errors)")
        }
        // Missing last entries are detected only by a recorded head.
        #expect(try await BuiltProgram.run(["audit", "verify", "edited.jsonl", "--expect", "x"], in: folder.url).status == 2)
        let none = try await BuiltProgram.run(["audit", "verify", "pushhost.yaml"], in: folder.url)
        #expect(none.status == 2 && none.errors.contains("error[audit.file]: pushhost.yaml is not an exported audit log"), "\(none.errors)")
    }

    @Test func `A restored backup brings its own log, and the next entry records the head of the replaced log`() async throws {
        try await ServedHub.serving { hub in
            #expect(try await hub.command(["hub", "backup", "a.sqlite"]).status == 0)
            #expect(try await hub.command(["key", "create", "other", "--rights", "listen"]).status == 0)
            let before = try JSON(parsing: try await hub.command(["audit", "verify", "--json"]).output)
            let end = try #require(before["result"]?["end"]?.string)
            #expect(end.hasPrefix("2:"))
            #expect(try await hub.command(["hub", "restore", "a.sqlite", "--yes"]).status == 0)
            let listed = try JSON(parsing: try await hub.command(["audit", "list", "--json"]).output)
            let items = try #require(listed["result"]?["items"]?.array)
            #expect(items.map { $0["action"]?.string } == ["server.restore"])
            #expect(items[0]["details"] == ["logBefore": .string(end)])
            #expect(try await hub.command(["audit", "verify"]).status == 0)
            #expect(try await hub.command(["audit", "verify", "--expect", end]).status == 1)
        }
    }

    @Test func `A refused access with a key is logged under the key's name`() async throws {
        try await ServedHub.serving { hub in
            for _ in 1...3 { #expect(try await hub.call("DELETE", "/api/v1/hubs/hub", by: .listen).status == 401) }
            #expect(try await hub.call("DELETE", "/api/v1/hubs/hub", by: nil).status == 401)
            let actor = "key:hub/\(ServedHub.Signer.listen.rawValue)"
            try await until {
                let listed = try await hub.command(["audit", "list", "--json", "--actor", actor])
                return try JSON(parsing: listed.output)["result"]?["items"]?.array?.count == 3
            }
            let all = try JSON(parsing: try await hub.command(["audit", "list", "--json"]).output)
            let items = try #require(all["result"]?["items"]?.array)
            #expect(items.count == 3)
            #expect(items.allSatisfy { $0["action"] == "access.refuse" && $0["outcome"] == "refused" && $0["actor"] == .string(actor) })
            #expect(try await hub.call("GET", "/api/v1/audit", by: .full).status == 401)
            #expect(try await hub.call("GET", "/api/v1/audit/verification", by: .root).body.contains(#""whole":true"#))
        }
    }
}
