import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// `push.test.snapshot` and `pushhost test --update`.
@Suite struct SpecSnapshotTests {
    private static let opening = "local push = require 'push' local it = push.test.it\n"

    private func folder(_ lua: String, others: [String: String] = [:]) throws -> ScriptFolder {
        try ScriptFolder(others.merging(["a_spec.lua": Self.opening + lua]) { $1 })
    }

    private func run(_ options: [String] = [], in folder: ScriptFolder) async throws -> BuiltProgram {
        try await BuiltProgram.run(["test"] + options, in: folder.url)
    }

    private func change(_ folder: ScriptFolder, to lua: String) throws { try folder.write("a_spec.lua", Data((Self.opening + lua).utf8)) }

    private func stored(in folder: ScriptFolder) -> String? {
        try? String(contentsOf: folder.url.appending(path: "a_spec.snap"), encoding: .utf8)
    }

    @Test func `a value without a snapshot fails until it is stored, and then is compared`() async throws {
        let folder = try folder("it('one', function() push.test.snapshot { b = 2, a = 'x' } push.test.snapshot('two\\nlines', 'text') end)")
        let missing = try await run(in: folder)
        #expect(missing.status == 1)
        #expect(
            missing.output.contains("there is no snapshot \"one › 1\"; the value is:\n        { a = \"x\", b = 2 }"), "\(missing.output)")
        #expect(missing.output.contains("help      if the value is right, store it: pushhost test --update"))
        #expect(stored(in: folder) == nil)
        let update = try await run(["--update"], in: folder)
        #expect(update.status == 0)
        #expect(
            update.output == "a_spec.lua\n  ✓ one\nwrote a_spec.snap\nPASS  1 spec · 1 test · 2 expectations · virtual 0 s\n",
            "\(update.output)")
        let content =
            "# Written by pushhost test --update.\n\n== one › 1\n  { a = \"x\", b = 2 }\n\n== one › text\n  two\n  lines\n"
        #expect(stored(in: folder) == content)
        #expect(try await run(in: folder).output == "a_spec.lua\n  ✓ one\nPASS  1 spec · 1 test · 2 expectations · virtual 0 s\n")
        #expect(!(try await run(["--update"], in: folder).output.contains("wrote")), "nothing has changed")
    }

    @Test func `a changed value fails with the difference, and the file stays`() async throws {
        let folder = try folder(
            "it('one', function() push.test.snapshot 'Your order has shipped and arrives on Monday, so please be at home' end)")
        #expect(try await run(["--update"], in: folder).status == 0)
        let before = stored(in: folder)
        try change(
            folder, to: "it('one', function() push.test.snapshot 'Your order has left and arrives on Monday, so please be at home' end)")
        let run = try await run(in: folder)
        #expect(run.status == 1)
        #expect(
            run.output.contains("the value differs from the snapshot \"one › 1\": the texts differ, [-expected-]{+actual+}:"),
            "\(run.output)")
        #expect(run.output.contains("Your order has [-shipped-]{+left+} and arrives"), "\(run.output)")
        #expect(stored(in: folder) == before)
    }

    @Test func `unused snapshots are reported, removed by an update, and kept for tests that did not run`() async throws {
        let folder = try folder(
            "it('one', function() push.test.snapshot(1) end) it('two', function() push.test.snapshot(2) push.test.snapshot(3, 'x') end)")
        #expect(try await run(["--update"], in: folder).status == 0)
        try change(folder, to: "it('one', function() end) it('two', function() push.test.snapshot(2) end)")
        let filtered = try await run(["--filter", "two"], in: folder)
        #expect(filtered.output.contains("unused snapshot: a_spec.snap › two › x\npushhost test --update removes unused snapshots\n"))
        #expect(!filtered.output.contains("one › 1"), "\(filtered.output)")
        let all = try await run(["--json"], in: folder)
        #expect(all.status == 0)
        #expect(
            try JSON(parsing: all.output)["unused_snapshots"]?.array?.compactMap(\.string)
                == ["a_spec.snap › one › 1", "a_spec.snap › two › x"])
        #expect(try await run(["--filter", "two", "--update"], in: folder).output.contains("wrote a_spec.snap"))
        #expect(stored(in: folder) == "# Written by pushhost test --update.\n\n== one › 1\n  1\n\n== two › 1\n  2\n")
        try change(folder, to: "it('one', function() end) it('two', function() end)")
        #expect(try await run(["--update"], in: folder).status == 0)
        #expect(stored(in: folder) == nil)
    }

    @Test func `the contents of secure payloads are not stored`() async throws {
        let folder = try folder(
            """
            it('reads', function()
              push.account { username = "alice", password = push.secret "demo_password" }
              local alice = push.login { username = "alice", password = push.secret "demo_password" }
              local receipt = alice:send_secure { to = "alice", payload = { code = "hun" .. "ter2z" } }
              local code = alice:fetch_secure_payload(receipt.id).code
              push.test.snapshot({ code = code, secret = push.secret "demo_password" })
              push.test.allow_no_target()
            end)
            """)
        let update = try await run(["--update"], in: folder)
        #expect(update.status == 0, "\(update.output)")
        let content = try #require(stored(in: folder))
        #expect(content.contains("code = \"***\"") && content.contains("secret = ***"), "\(content)")
        #expect(!content.contains("hunter2z") && !content.contains("correct horse"))
        #expect(try await run(in: folder).status == 0)
    }

    @Test func `a snapshot is compared only inside a test`() async throws {
        let outside = try await run(in: try folder("push.test.snapshot(1) it('one', function() end)"))
        #expect(outside.status == 3)
        #expect(outside.output.contains("error[test.order]: push.test.snapshot was called outside of a test"), "\(outside.output)")
        let flow = try ScriptFolder(["flow.lua": "require('push').test.snapshot(1)"])
        let run = try await BuiltProgram.run(["run", "flow.lua"], in: flow.url)
        #expect(run.errors.contains("error[test.not_a_spec]: push.test.snapshot"), "\(run.errors)")
    }
}
