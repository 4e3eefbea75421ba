import Foundation
import HostSupport
import Support
import Testing

/// Secure payloads that were read do not appear in any output.
@Suite struct WithheldPayloadTests {
    private static let flow = """
        local push = require "push"
        local function read()
          push.account { username = "alice", password = push.secret "demo_password" }
          local alice = push.login { username = "alice", password = push.secret "demo_password" }
          local receipt = alice:send_secure { to = "alice", payload = { code = "hun" .. "ter2z" } }
          return alice:fetch_secure_payload(receipt.id).code
        end

        """

    @Test(arguments: [[], ["--json"], ["--trace"], ["--json", "--trace"]])
    func `the report of a run contains no payload`(options: [String]) async throws {
        let folder = try ScriptFolder([
            "flow.lua": Self.flow + "print(read()) push.expect(read()).to.equal 'x'",
            "demo_secrets.json": "{\"demo_password\": \"secret1\"}",
        ])
        let run = try await BuiltProgram.run(["run", "flow.lua"] + options, in: folder.url)
        #expect(run.status == 1)
        #expect((run.output + run.errors).contains("***"))
        #expect(!(run.output + run.errors).contains("hunter2z"))
    }

    @Test(arguments: [[], ["--json"], ["--tap"]])
    func `test results contain no payload`(options: [String]) async throws {
        let spec = Self.flow + "push.test.it('reads', function() print(read()) push.expect(read()).to.equal 'x' end)"
        let folder = try ScriptFolder(["a_spec.lua": spec, "demo_secrets.json": "{\"demo_password\": \"secret1\"}"])
        let run = try await BuiltProgram.run(["test", "--junit", "results.xml"] + options, in: folder.url)
        #expect(run.status == 1)
        let results = try String(contentsOf: folder.url.appending(path: "results.xml"), encoding: .utf8)
        for text in [run.output + run.errors, results] {
            #expect(text.contains("***"))
            #expect(!text.contains("hunter2z"))
        }
    }

    @Test func `errors at the prompt contain no payload`() async throws {
        let lines = Self.flow.replacing("local push = require \"push\"\n", with: "") + "error(read())\npush.expect(read()).to.equal 'x'\n"
        let folder = try ScriptFolder(["lines": lines, "demo_secrets.json": "{\"demo_password\": \"secret1\"}"])
        let session = try await BuiltProgram.shell("$P repl < lines", in: folder.url)
        #expect(session.status == 1)
        #expect(session.errors.contains("***"))
        #expect(!session.errors.contains("hunter2z"), "\(session.errors)")
    }
}
