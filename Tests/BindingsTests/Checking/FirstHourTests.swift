import Lua
import Testing

@testable import Bindings

/// Beginners' mistakes: a check finds each one and its text says how to fix it.
@Suite struct FirstHourTests {
    private static let opening = "local phone = push.device { name = 'a' } "

    private func found(_ lua: String) -> [String] {
        findings(in: Self.opening + lua).map { "\($0.code): \($0.message): \($0.hint ?? "")" }
    }

    @Test(
        arguments: [
            ("print('a' + 1)", "tonumber('a')"), ("local f; f()", "f is nil here"), ("print('x ' .. true)", "tostring(true)"),
            ("print('x' .. phone)", "tostring(phone)"), ("local t = nil; t.x = 1", "t is nil here"), ("print(nil .. 'x')", "nil here"),
            ("local n = 4 print(n > '3')", "tonumber"), ("print(push.clock.now > 5)", "call it, push.clock.now()"),
            ("print(5 < push.clock.now)", "call it, push.clock.now()"),
            ("for i, x in phone:inbox() do print(i, x) end", "ipairs(phone:inbox())"),
            ("for k, v in { 1, 2 } do print(k, v) end", "ipairs({ 1, 2 })"), ("print(#5)", "5 is a number"),
            ("print(-{})", "{} is a table"), ("local s = 5 s()", "number cannot be called"), ("print(('x'):uper())", "\"upper\""),
            ("print(push.clock.now.hour)", "call it"), ("push.tag 'x'", "cannot be called"),
            ("print('x' .. phone:inbox())", "table.concat"),
            ("local s = 'a' local n = s\n('x'):len()", "begins a line"),
        ])
    func `expressions that always fail in Lua are errors`(lua: String, part: String) {
        #expect(found(lua).count == 1, "\(found(lua))")
        #expect(found(lua).first?.hasPrefix("script.error: ") == true && found(lua).first?.contains(part) == true, "\(found(lua))")
    }

    @Test(
        arguments: [
            "print('10' + 5, '0x10' * 2, ' 7 ' - 1, -'3')", "print('a' .. 1 .. 2.5)", "print('a' < 'b', 1 < 2.5)",
            "local t = setmetatable({}, {}) print(t + 1, t .. 'x', t < t, #t, t())",
            "local hook = nil if hook then hook() end", "local t = nil print(t and t.x)", "local t = {} t.x = 1",
            "local t for _, v in ipairs { {} } do t = v end print(t.x)", "for _, item in ipairs(phone:inbox()) do print(item.text) end",
            "for k, v in pairs { a = 1 } do print(k .. v) end", "for i in push.installations {} do print(i.id) end",
            "local function each(list) return ipairs(list) end for _, v in each { 1 } do print(v) end",
            "print('x' .. tostring(phone) .. #phone:inbox())", "local s = 'x' print(s:upper(), #s, s.len)",
            "push.log('a') push.log.warn('b')", "local ok, err = pcall(error) print('x' .. err)",
            "local function f(t) t.x = 1 return t + 1 end print(f)", "print((nil or 5) + 1, not nil)",
            "local a local function f() return a.b end a = { b = 1 } print(f())", "print(push.expect(1).to.equal)",
        ])
    func `expressions that may be valid have no finding`(lua: String) {
        #expect(found(lua).isEmpty, "\(found(lua))")
    }

    @Test(
        arguments: [
            ("push.expect(1).to_not.be_a 'strng'", "args.wrong_type", "\"string\""),
            ("push.expect(1).to.equal(1, 2)", "args.too_many", "takes 1 argument"),
            ("push.expect(1).to.equal()", "args.missing", "nil must be written"),
            ("push.expect(1).to.be_true(1)", "args.too_many", "takes 0"), ("push.expect(1).to.be_above 'x'", "args.wrong_type", "a number"),
            ("push.expect('x').to.match()", "args.missing", "pattern"),
            ("push.expect({}).to.have_length 'x'", "args.wrong_type", "whole number"),
            ("push.expect(1).to:equal(1)", "args.receiver", "write a dot: push.expect(…).to.equal(…)"),
            ("push.expect(1):to_equal(1)", "script.unknown_name", "to_equal"), ("push.expect(1)", "expect.failed", "no matcher"),
        ])
    func `expectations that check nothing are errors`(lua: String, code: String, part: String) {
        #expect(found(lua).count == 1 && found(lua).first?.hasPrefix("\(code): ") == true, "\(found(lua))")
        #expect(found(lua).first?.contains(part) == true, "\(found(lua))")
    }

    @Test func `comparing with nil is allowed when nil is written out`() {
        #expect(found("push.expect(nil).to.equal(nil) local e = push.expect(1) e.to.exist() push.expect(1).to_not.be_a 'nil'").isEmpty)
    }

    @Test(arguments: ["null", "None", "undefined"])
    func `words of other languages for nil are errors`(word: String) {
        for lua in ["if phone.user == \(word) then print(1) end", "local x = \(word) print(x)", "print(\(word) ~= 1)"] {
            #expect(found(lua).first?.hasSuffix("write nil") == true, "\(lua) \(found(lua))")
        }
    }

    @Test(
        arguments: [
            ("push.schedule { to = 'a', alert = 'x', at = '2026-01-06T08:00:00Z', after = '1h' }", "cannot be combined"),
            ("push.install('i', { device = phone, platform = 'wns' })", "cannot be combined"), ("push.install('i', {})", "needs a device"),
            ("print(phone.usr, phone.time)", "time_zone"), ("push.wire 'Andriod'", "\"android\""), ("push.wire 'google'", "\"fcm\""),
            ("push.wire 'mpns'", "was shut down"),
            ("push.schedule { to = 'a', alert = 'x', after = '8d' }", "seven days"),
            ("push.patch('x', { { op = 'ad', path = '/tags' } })", "add, remove or replace"),
            ("print(push.locale.choose('en_US', { 'en' }, 'en'))", "en-US"),
            ("push.locale.properties { name = 'a b', texts = {}, fallback = 'en' }", "letters, digits"),
            (
                "local s = push.login { username = 'a', password = push.secret 'p' } s:send_secure { to = 'b', payload = 1, max_reads = 0 }",
                "at least one"
            ),
            (
                "local s = push.login { username = 'a', password = push.secret 'p' } s:send_secure { to = 'b', payload = 1, expires_in = '60d' }",
                "30 days"
            ),
            ("push.send { to = 'a', alert = 'x', to = 'b' }", "twice"),
            ("push.spawn(push.sleep '1h')", "function() … end"), ("push.step('x', print 'hi')", "function() … end"),
            ("phone:on_push(phone:show { body = 'x' })", "function() … end"),
            ("push.try(push.send { to = 'a', alert = 'x' })", "function() … end"),
            ("push:sleep '1s'", "write a dot"),
        ])
    func `calls that fail in every run are errors`(lua: String, part: String) {
        #expect(found(lua).contains { $0.contains(part) }, "\(found(lua))")
        #expect(found(lua).count <= 2)
    }

    @Test func `the beginning of a field name gets the full name as a hint`() {
        let lua = "local s = push.login { username = 'a', password = push.secret 'p' } print(s.user, s.zzz)"
        #expect(findings(in: lua).map(\.hint).first == "did you mean 'username'?")
        #expect(findings(in: lua).last?.hint?.hasPrefix("it has ") == true)
    }

    @Test(
        arguments: [
            ("local push = require push\npush.sleep '1s'", "require \"push\""),
            ("push.send { to = \"phone, alert = \"x\" }", "before this comma"),
            ("push.send { to = 'phone, alert = 'x', title = 'y' }", "before this comma"),
            ("push.spawn(function(x) => x end)", "Lua's functions have no =>"),
        ])
    func `missing quotes and arrow functions have one finding with the cause`(lua: String, part: String) {
        #expect(found(lua).count == 1 && found(lua).first?.contains(part) == true, "\(found(lua))")
    }

    @Test(
        arguments: [
            ("local password = 'hunter2hunter2'", true), ("local password = 'changeme'", true),
            ("print { secret = 's3cr3t-value-here' }", true),
            ("print { token = 'abcdefabcdefabcdef' }", true), ("push.login { username = 'a', password = 'pw' .. 'x' }", true),
            ("print 'https://user:p4ssw0rd@example.com/'", true), ("local dbPassword = 'correcthorse'", true),
            ("local client_secret = 'open_sesame'", true),
            ("local password = '<your key>'", false), ("local password = 'xxxxxxxx'", false), ("local password = 'two words'", false),
            ("local token_count = 'hunter2hunter2'", false), ("print { password = 'your-password' }", false),
            ("local secret = 'short'", false),
            ("print 'https://user:password@example.com/'", false), ("print 'https://example.com:8080/a@b'", false),
            ("local password = push.secret 'demo_password'", false), ("local password_file = 'hunter2hunter2'", false),
        ])
    func `secrets in variables, fields and URLs are found, placeholders are not`(lua: String, isSecret: Bool) {
        #expect(found(lua).map { $0.hasPrefix("check.secret") } == (isSecret ? [true] : []), "\(found(lua))")
    }
}
