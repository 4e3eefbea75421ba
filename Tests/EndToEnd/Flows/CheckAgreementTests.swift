import Bindings
import HostSupport
import Lua
import Testing

/// A check reports the same errors as a run, in the same words.
@Suite struct CheckAgreementTests {
    @Test(
        arguments: [
            "push.sned { to = 'a' }", "push.tag.usr 'alice'", "push.mine = 1", "s:regster { device = p }", "p:inbx()", "p.inbox()",
            "s.register { device = p }",
            "push.send { tags = 'a', alert = 'x' }", "push.send { to = 'a', alret = 'x' }", "push.send { to = 42, alert = 'x' }",
            "push.send { to = s, alert = 'x' }",
            "push.send { to = 'a', alert = '\\xff' }", "push.send { to = 'a' }", "push.send { alert = 'x' }",
            "push.send { to = '', alert = 'x' }",
            "push.send { to = '*', alert = 'x' }", "push.send { to = 'a && (b', alert = 'x' }",
            "push.send { to = 'a', device = p, alert = 'x' }",
            "push.send { to = 'a', alert = 'x', priority = 'hihg' }", "push.send { to = 'a', alert = 'x', title = 5 }",
            "push.send { to = 'a', properties = {}, title = 'x' }",
            "push.send { to = 'a', properties = {}, headers = {} }", "push.send { to = 'a', payload = { apnz = '{}' } }",
            "push.send('a', 'b')", "push.send 'a'",
            "push.schedule { to = 'a', alert = 'x' }", "push.schedule { after = 'soon', to = 'a', alert = 'x' }", "push.step('x')",
            "push.step(1, print)",
            "push.device { nam = 'x' }", "push.device { name = 'x', platform = 'apnss' }", "push.device {}", "push.wire 'fmc'",
            "push.sleep 'soon'", "push.sleep(-1)",
            "push.sleep()", "push.sleep('1s', 2)", "push.clock.advance {}", "push.tag.any { 'a b' }", "push.tag.match('a &&', {})",
            "push.tag.match('a', { 'b c' })",
            "s:register { device = p, tags = { 'a b' } }", "s:register { device = p, tags = 'a' }", "s:register { devise = p }",
            "s:register { device = s }",
            "s:register { device = p, template = '{\"aps\":\"$(x\"}' }", "push.login { username = 'a', password = 5 }",
            "push.expect(1).too.equal(1)", "push.expect(1).to.equals(1)",
            "push.log.wran 'x'", "print(push.target.nmae)", "p.name = 'x'", "require 'socket'", "io.open 'x'", "os.execute 'ls'",
            "os.getenv 'x'", "dofile 'x'", "string.dump(print)",
            "push.install('id', { plattform = 'apns' })", "push.run('x.lua', 5)",
        ])
    func `a check and a run report a mistake with the same code, message and hint`(line: String) async throws {
        let opening =
            "local push = require 'push' push.account { username = 'alice', password = push.secret 'demo_password' }\n"
            + "local s = push.login { username = 'alice', password = push.secret 'demo_password' } local p = push.device { name = 'a-1' }\n"
        let run = try await rehearse(line, opening: opening)
        let error = try #require(run.error, "the script raised nothing")
        let finding = try #require(FlowChecker(.standard).findings(in: Array(run.source.utf8), name: "flow.lua").first, "nothing was found")
        #expect(finding.code == error.code)
        #expect(finding.message == error.message)
        #expect(finding.hint == error.hint || error.code == "sandbox.absent" || error.hint == nil)
        #expect(finding.line == error.location?.line)
    }

    @Test func `the checker knows exactly the globals of the sandbox`() async throws {
        let names = try await result(
            of: """
                local found = {}
                for name, value in pairs(_G) do
                  found[#found + 1] = name
                  if type(value) == "table" and name ~= "_G" then
                    for inner in pairs(value) do found[#found + 1] = name .. "." .. inner end
                  end
                end
                table.sort(found)
                return table.concat(found, " ")
                """)
        for name in names.split(whereSeparator: { $0 == " " || $0 == "\"" }) where name != "_G" {
            let script = "local push = require 'push' print(\(name))"
            let found = FlowChecker(.standard).findings(in: Array(script.utf8), name: "flow.lua").map(\.code)
            let isAbsent = ["dofile", "loadfile", "string.dump"].contains(name)
            #expect(found == (isAbsent ? ["sandbox.absent"] : []), "\(name)")
        }
        #expect(names.contains("coroutine.wrap") && names.contains("os.time") && names.contains("utf8.char"))
        // Conversely, every name that the checker assumes exists.
        let granted = LuaLibrary.functions.union(LuaLibrary.libraries.flatMap { name, members in members.map { "\(name).\($0)" } })
        for name in granted { #expect(names.split(whereSeparator: { $0 == " " || $0 == "\"" }).contains { $0 == name }, "\(name)") }
    }
}
