import Bindings
import HostSupport
import Lua
import Testing

@testable import PushHost

/// Typical mistakes of beginners, as a run reports them.
@Suite struct FirstHourTests {
    private static let opening = "local push = require 'push'\nlocal phone = push.device { name = 'a' }\n"

    @Test(
        arguments: [
            ("print('a' + 1)", "tonumber('a')"), ("local f f()", "f is nil here"), ("print('x ' .. true)", "tostring(true)"),
            ("print('x' .. phone)", "tostring(phone)"), ("local o = {} print('sent ' .. o.snt)", "o.snt is nil here"),
            ("local t = nil t.x = 1", "t is nil here"), ("local function f(n) return n > '3' end f(1)", "tonumber(…)"),
            ("print(push.clock.now > 5)", "push.clock.now()"), ("for i, x in phone:inbox() do end", "ipairs(phone:inbox())"),
            ("local function f(t) for k in t do end end f {}", "ipairs"), ("local greet, x = print, 1 gret()", "\"greet\""),
            ("local o = { name = 1 } print(o.first.second)", "o.first is nil here"),
            ("print(('x'):rep('y'))", "tonumber(…)"), ("print(1 // 0)", "divisor"), ("print(1 & 1.5)", "math.floor"),
            ("local o = { run = 1 } o.rn()", "\"run\""), ("for i = 1, 'x' do end", "tonumber(…)"),
            ("push.device {\n  name = android,\n}", "there is no \"android\""),
        ])
    func `a Lua error has a hint`(lua: String, part: String) async throws {
        let error = try #require(try await rehearse(lua, opening: Self.opening).error)
        #expect(error.hint?.contains(part) == true, "\(error.message): \(error.hint ?? "no hint")")
    }

    @Test(
        arguments: [
            ("push.expect(1).to_not.be_a 'strng'", "args.wrong_type"), ("push.expect(1).to.equal(1, 2)", "args.too_many"),
            ("push.expect(1).to.equal()", "args.missing"), ("push.expect(1).to:equal(1)", "args.receiver"),
            ("push.expect(1).to:exist()", "args.receiver"), ("push.expect('x').to_not.contain(5)", "args.wrong_type"),
            ("push.expect('x').to_not.contain(nil)", "args.missing"), ("push.expect({}).to_not.have_length '0'", "args.wrong_type"),
            ("push:sleep '1s'", "args.receiver"), ("push.all { 1, 2 }", "args.wrong_type"),
            ("push.step(function() end)", "args.wrong_type"),
            ("push.spawn(push.sleep '1s')", "args.missing"),
        ])
    func `misuse that would otherwise pass silently raises an error`(lua: String, code: String) async throws {
        #expect(try await rehearse(lua, opening: Self.opening).error?.code == code)
    }

    @Test func `expectations accept tables of any form`() async throws {
        let lua = """
            local odd = { nil, 2, [print] = 1 } odd.self = odd
            push.expect(odd).to.equal(odd) push.expect(nil).to.equal(nil) push.expect({ odd }).to.contain(odd)
            push.expect(coroutine.create(print)).to_not.equal(coroutine.create(print)) push.expect(1).to.be_a 'integer'
            push.all { push.spawn(print), function() end }
            """
        #expect(try await rehearse(lua, opening: Self.opening).hasPassed)
    }

    @Test(
        arguments: [
            ("push.device { name = 'b', platform = 'andriod' }", 38),
            ("print(push.locale.choose('zh-TW', { 'en' }, 'en'), push.locale.choose('', { 'en' }, 'en'))", 1),
            ("  push.send { alert = 'x', tags = 'y', properties = { tags = 'z' } }", 3), ("push.send { tags = 'y', alert = 'x' }", 13),
        ])
    func `the caret marks the fault, or the start of the line when the column is unknown`(lua: String, column: Int) async throws {
        let run = try await rehearse(lua, opening: Self.opening)
        let diagnostic = Diagnostic(
            try #require(run.error), source: Array(run.source.utf8), scriptName: "flow.lua", palette: Palette(isOn: false))
        #expect(diagnostic.position?.column == column)
    }
}
