import FoundationEssentials
import Lua
import Testing

@testable import Bindings

/// Findings in a script whose first line requires `push`.
func findings(in lua: String, checker: FlowChecker = FlowChecker(.standard)) -> [Finding] {
    checker.findings(in: Array("local push = require \"push\"\n\(lua)".utf8), name: "flow.lua")
}

/// Each finding as `CODE LINE:COLUMN`; line 1 is the first line of the test's own text.
private func marks(_ lua: String) -> [String] { findings(in: lua).map { "\($0.code) \($0.line - 1):\($0.column)" } }

@Suite struct FlowCheckerTests {
    @Test func `the project's scripts have no findings, except the one that shows a mistake`() throws {
        var count = 0
        for folder in ["scripts", "docs/examples"] {
            let root = PackageText.root.appending(path: folder)
            for name in try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted() where name.hasSuffix(".lua") {
                let source = FileManager.default.contents(atPath: root.appending(path: name).path) ?? Data()
                let found = FlowChecker(.standard, modules: .folders([root.path])).findings(in: [UInt8](source), name: name)
                #expect(found.map(\.code) == (name == "typo.lua" ? ["args.unknown_key"] : []), "\(name): \(found)")
                count += 1
            }
        }
        #expect(count > 15)
    }

    @Test(arguments: BindingRegistry.standard.bindings.map(\.name))
    func `the example of each binding has no findings`(name: String) throws {
        let binding = try #require(BindingRegistry.standard.binding(named: name))
        let names = "local session, phone, outcome, item, planned, receipt, bank, alice, registration, group, greet = ...\n"
        #expect(findings(in: names + binding.example).isEmpty, "\(findings(in: names + binding.example))")
    }

    @Test(
        arguments: [
            ("push.sned { to = 'a' }", ["script.unknown_name 1:6"]),
            ("x = push.tag.usr", ["check.global 1:1", "script.unknown_name 1:14"]),
            ("local tag = push.tag\nprint(tag.usr 'a')", ["script.unknown_name 2:11"]),
            ("local it = push.test.itt", ["script.unknown_name 1:22"]),
            ("require('push').sned()", ["script.unknown_name 1:17"]), ("push['sned']()", ["script.unknown_name 1:6"]),
            ("push.target.nmae = 1", []), ("print(push.target.nmae)", ["script.unknown_name 1:19"]),
            ("push.expect(1).too.equal(1)", ["script.unknown_name 1:16"]), ("push.expect(1).to.equals(1)", ["script.unknown_name 1:19"]),
            ("push.log.wran 'x'", ["script.unknown_name 1:10"]), ("push.log('a', 'b').x()", ["script.error 1:1"]),
            ("push.mine = 1", ["script.read_only 1:6"]),
            ("function push.tag.mine() end", ["script.read_only 1:19"]), ("require 'socket'", ["script.unknown_module 1:9"]),
            ("local name = ...\nrequire(name)", []),
        ])
    func `names missing from the module are errors`(lua: String, expected: [String]) {
        #expect(marks(lua) == expected)
    }

    @Test(
        arguments: [
            ("push.install('i', { device = phone, templates = { t = '{\"a\":\"Hi $(n)\"}' } })", ["template.text 1:65"]),
            ("push.install('i', { device = phone, templates = { t = { body = [[<t>x $(n)</t>]] } } })", ["template.text 1:71"]),
            (
                "push.subscribe { device = phone, categories = { 'a' }, template = '{\"a\":\"x $(n)\",\"b\":\"y $(m)\"}' }",
                ["template.text 1:76", "template.text 1:89"]
            ),
            (
                "push.install('i', { device = phone, templates = { t = { body = '{\"a\":\"$(n)\"}', "
                    + "headers = { ['apns-collapse-id'] = 'id-$(n)' } } } })",
                ["template.text 1:119"]
            ),
            (
                "push.subscribe { device = phone, categories = { 'a' }, template = { body = '{\"a\":\"$(n)\"}', "
                    + "headers = { ['apns-thread-id'] = 'x{$(n)}' } } }",
                ["template.text 1:127"]
            ),
            (
                "push.subscribe { device = phone, categories = { 'a' }, template = { body = '{\"a\":\"$(n)\"}', "
                    + "headers = { ['apns-topic'] = '$(t)' } } }",
                []
            ),
            ("push.install('i', { device = phone, templates = { t = [[{\"a\":\"{'Hi ' + $(n)}\"}]] } })", []),
            ("push.install('i', { device = phone, templates = { t = '{\"a\":\"$(n)\"}' } })", []),
        ])
    func `an expression inside the text or a header of a template is a warning at its position`(lua: String, expected: [String]) {
        let found = findings(in: "local phone = ... " + lua)
        #expect(found.map { "\($0.code) \($0.line - 1):\($0.column - 18)" } == expected)
        #expect(found.allSatisfy { $0.severity == .warning && $0.hint?.hasPrefix("write {'") == true })
    }

    @Test(
        arguments: [
            (
                "push.send { to = 'a', payload = { apns = { aps = { alert = { ['loc-args'] = {} } } } } }", ["payload.empty_list 1:77"]
            ),
            (
                "push.schedule { after = '1h', to = 'a', payload = { apns = '{\"aps\":{\"alert\":{\"title-loc-args\":{}}}}' } }",
                ["payload.empty_list 1:60"]
            ),
            ("push.send { to = 'a', payload = { apns = { aps = { alert = { ['loc-args'] = push.json.array {} } } } } }", []),
            ("push.send { to = 'a', payload = { apns = { aps = { alert = { ['loc-args'] = { 'x' } } }, extra = {} } } }", []),
            ("local args = ... push.send { to = 'a', payload = { apns = { aps = { alert = { ['loc-args'] = args } } } } }", []),
        ])
    func `an empty table where push services expect a list is a warning`(lua: String, expected: [String]) {
        #expect(marks(lua) == expected)
        #expect(findings(in: lua).allSatisfy { $0.severity == .warning })
    }

    @Test(
        arguments: [
            ("local s = push.login { username = 'a', password = push.secret 'p' }\ns:regster {}", ["script.unknown_name 2:3"]),
            (
                "local s = push.step('x', function() return push.login { username = 'a', password = push.secret 'p' } end)\ns:regster {}",
                ["script.unknown_name 2:3"]
            ),
            ("local s = push.try(push.login, {})\ns:regster {}", ["script.unknown_name 2:3"]),
            (
                "local function login(n) return push.login { username = n, password = push.secret 'p' } end\nlogin 'a':regster {}",
                ["script.unknown_name 2:11"]
            ),
            (
                "local s\npush.step('x', function() s = push.login { username = 'a', password = push.secret 'p' } end)\ns:regster {}",
                ["script.unknown_name 3:3"]
            ),
            ("for _, phone in ipairs(push.devices {}) do phone:inbx() end", ["script.unknown_name 1:50"]),
            ("local phone = push.devices {}[1]\nphone:inbx()", ["script.unknown_name 2:7"]),
            ("local phone <const> = push.find_device 'a'\nlocal function f() phone:inbx() end f()", ["script.unknown_name 2:26"]),
            ("push.spawn(print):awiat()", ["script.unknown_name 1:19"]), ("push.find_device 'a'.name = 'b'", ["script.read_only 1:22"]),
            (
                "local o = push.send { to = 'a', alert = 'x' }\nprint(o.sate, o.devices[1].outcom, o.counts.apns)",
                ["check.unknown_field 2:9", "check.unknown_field 2:28"]
            ),
            ("local item = push.find_device 'a':wait_for {}\nif item.txt then print(item.text) end", ["check.unknown_field 2:9"]),
            ("for i in push.installations {} do print(i.id, i.tag) end", ["check.unknown_field 1:49"]),
        ])
    func `handles and tables have their type after assignments, calls and loops`(lua: String, expected: [String]) {
        #expect(marks(lua) == expected, "\(findings(in: lua))")
    }

    /// A value that may have another type has no finding.
    @Test(
        arguments: [
            "local s = push.login { username = 'a', password = push.secret 'p' }\ns = nil\nprint(s.x)",
            "local s\nif push.target.simulated then s = push.find_device 'a' else s = { x = 1 } end\nprint(s.x)",
            "local function f(push) push.anything { at = 'all' } end f {}",
            "local function make(kind) if kind then return push.device { name = 'a' } end return { foo = print } end\nmake().foo()",
            "local t = { s = push.find_device 'a' }\nt.s = {}\nt.s.foo = 1", "local f = push.send or print\nf { anything = 1 }",
            "push.send(...)", "push.send(table.unpack { 1, 2, 3 })", "local k = ...\npush.send { [k] = 1 }", "local t = ...\npush.send(t)",
            "push.send { to = ..., alert = ('x'):rep(3) }", "local o = push.send { to = 'a', alert = 'x' }\no.mine = 1\nprint(o.mine)",
            "local to = 'a'\nto = to .. ' && b'\npush.send { to = to, alert = 'x' }", "push.expect(#push.wire()).to_not.equal(1)",
            "local a <close> = nil\nlocal b, c = (function() end)()", "local _ENV = { x = 1 }\nx = y", "print(_G.anything) anything()",
            "load 'made = 1' ()\nprint(made)", "local u = unpack or table.unpack\nprint(u)",
            "string.trim = function(s) return s end\nprint(string.trim 'x')",
            "function string.trim(s) return s end\nprint(string.trim 'x')", "local counter = 0 counter = counter + 1",
            "push.tag.any(push.json.decode '[]')", "local p = push.find_device 'a'\nlocal inbox = p.inbox\npush.try(inbox, p)\ninbox(p)",
            "pcall(push.send, { anything = 1 })", "local ok, s = pcall(push.login, {})\ns:anything()", "goto done\n::done::",
            "return { push.everyone, push.target }",
            "local to, phone = ...\npush.send { to = to and 'a', device = (not to) and phone or nil, alert = 'x' }",
            "local function tell(to, phone) return push.send { to = to, device = phone, alert = 'x' } end",
            "local text = ...\npush.send { to = 'a', alert = text or nil, properties = (not text and { a = 'b' }) }",
        ])
    func `uncertain code has no errors`(lua: String) {
        #expect(findings(in: lua).filter { $0.severity == .error }.isEmpty, "\(findings(in: lua))")
    }

    @Test(
        arguments: [
            ("push.send { tags = 'a', alert = 'x' }", ["args.unknown_key 1:13"]),
            ("push.send { to = 'a', alret = 'x', tilte = 'y' }", ["args.unknown_key 1:23", "args.unknown_key 1:36"]),
            ("local send = push.send\nsend { too = 'a' }", ["args.unknown_key 2:8"]), ("push.device {}", ["args.missing 1:1"]),
            ("push.device { name = nil }", ["args.missing 1:1"]),
            ("push.device { name = 5 }", ["args.wrong_type 1:22"]),
            ("push.device { name = 'a', platform = 'apnss' }", ["args.platform 1:38"]), ("push.wire 'fmc'", ["args.platform 1:11"]),
            ("push.send { to = 'a', alert = 'x', priority = 'hihg' }", ["args.wrong_type 1:47"]),
            ("push.send { to = 'a', payload = { apnz = {} } }", ["args.platform 1:35"]),
            ("push.send { to = '  ', alert = 'x' }", ["send.no_audience 1:18"]), ("push.send { alert = 'x' }", ["send.no_audience 1:1"]),
            ("push.send { to = 'a' }", ["send.no_content 1:1"]),
            ("local x = ...\npush.send { to = x and 'a', alert = 'x', payload = {} }", ["send.no_content 2:1"]),
            ("push.schedule { to = 'a', alert = 'x' }", ["schedule.when 1:1"]),
            ("push.schedule { after = '2 h', to = 'a', alert = 'x' }", ["args.duration 1:25"]),
            ("push.schedule { at = 'tomorrow', to = 'a', alert = 'x' }", ["args.time 1:22"]),
            ("push.sleep '1 hour'", ["args.duration 1:12"]), ("push.sleep(-1)", ["args.duration 1:12"]),
            ("push.sleep('1s', 2)", ["args.too_many 1:18"]), ("push.send({ to = 'a', alert = 'x' }, 1)", ["args.too_many 1:38"]),
            ("push.step('x')", ["args.missing 1:1"]),
            ("push.step(function() end, 'x')", ["args.wrong_type 1:11", "args.wrong_type 1:27"]),
            ("push.all { print, 5 }", ["args.wrong_type 1:19"]),
            ("push:send { to = 'a', alert = 'x' }", ["args.receiver 1:6"]),
            ("local p = push.find_device 'a'\np.inbox()\np.inbox(p)\np:inbox(1)", ["args.receiver 2:1", "args.too_many 4:9"]),
            (
                "local p = push.find_device 'a'\nlocal s = push.login { username = 'a', password = push.secret 'p' }\ns:register { device = s, tags = { 'a b', 5 } }",
                ["args.wrong_type 3:23", "args.wrong_type 3:42"]
            ),
            ("push.run('a.lua', { user = function() end })", ["args.wrong_type 1:28"]),
            ("push.install('id', { tags = { 'a b' }, plattform = 'apns' })", ["tag.invalid 1:33", "args.unknown_key 1:40"]),
        ])
    func `calls that cannot be right are errors at the position of the mistake`(lua: String, expected: [String]) {
        #expect(marks(lua) == expected, "\(findings(in: lua))")
    }

    @Test(
        arguments: [
            ("push.send { to = 'a && (b', alert = 'x' }", "tag_expression.invalid", 24),
            ("push.send { to = 'a\\t\\x26& é && (b', alert = 'x' }", "tag_expression.invalid", 33),
            ("push.tag.any { 'a', 'b c' }", "tag_expression.invalid", 24), ("push.tag.match('a &&', {})", "tag_expression.invalid", 21),
            ("local to = 'a |'\npush.send { to = to, alert = 'x' }", "tag_expression.invalid", 15),
            ("push.subscribe { device = ..., categories = { 'a b' } }", "tag.invalid", 49),
        ])
    func `a fault in a text is reported at its character, also after escapes`(lua: String, code: String, column: Int) {
        let found = findings(in: lua)
        #expect(found.map(\.code) == [code])
        #expect(found.first?.column == column)
    }

    @Test func `a fault in a template is reported in its own line`() {
        let found = findings(
            in: "local s = ...\npush.register { session = s, device = s, template = [[\n{\"aps\":\n  {\"alert\":\"$(x\"}}]] }")
        #expect(found.map { "\($0.code) \($0.line):\($0.column)" } == ["template.syntax 5:14"])
    }

    @Test func `a syntax error is the only finding of its script`() {
        let found = findings(in: "push.sned {}\nif x = 1 then end")
        #expect(found.map { "\($0.code) \($0.line):\($0.column)-\($0.endColumn) \($0.severity)" } == ["script.syntax 3:6-7 error"])
    }

    @Test(arguments: [
        "local get = debug and debug.getmetatable or getmetatable\nprint(get)", "if io.open then io.open('x') end",
        "local run = os.execute\nif run then run('x') end", "print(dofile, loadfile, string.dump, package.loaded)",
        "local home = os.getenv and os.getenv('HOME')\nprint(home)", "print(os['execute'])",
    ])
    func `testing for a library function that is absent is not an error`(lua: String) {
        #expect(findings(in: lua).isEmpty, "\(findings(in: lua))")
    }

    @Test(arguments: [
        "os.execute('x')", "io.stdout:write('x')", "package.loaded.x = 1", "print(debug.getinfo(1).short_src)", "loadfile('x')",
        "os['execute']('x')", "string.dump(print)", "local function f() io.write('x') end\nf()",
    ])
    func `using a library function that is absent is an error`(lua: String) {
        #expect(findings(in: lua).map(\.code) == ["sandbox.absent"])
    }

    @Test(
        arguments: [
            ("print(usrname)\nlocal username = 1", "script.unknown_global", "did you mean \"username\"?"),
            ("print(later)\nlocal later = 1", "script.unknown_global", "declared later"),
            ("do local inner = 1 end\nprint(inner)", "script.unknown_global", "ends with its block"),
            ("print(null)", "script.unknown_global", "nil"),
            ("print(True)", "script.unknown_global", "\"true\""), ("print(device { name = 'a' })", "script.unknown_global", "push.device"),
            ("io.open 'x'", "sandbox.absent", "push.log"), ("os.execute 'ls'", "sandbox.absent", "cannot start programs"),
            ("os.foo()", "sandbox.absent", "os has clock"),
            ("dofile 'x'", "sandbox.absent", "with require"), ("string.dump(print)", "sandbox.absent", "bytecode"),
            ("local n = ('x'):len() string.fromat()", "script.unknown_name", "format"),
            ("phones = {}", "check.global", "local"), ("function helper() end", "check.global", "local"),
            ("local sesion = 1\nsession = 2", "check.global", "\"sesion\""),
            ("print = nil", "check.global", "is part of Lua"),
        ])
    func `undefined names are errors with a hint`(lua: String, code: String, part: String) throws {
        let found = findings(in: lua)
        #expect(found.map(\.code) == [code])
        let finding = try #require(found.first)
        #expect("\(finding.message) \(finding.hint ?? "")".contains(part), "\(finding)")
        #expect(finding.severity == (code == "check.global" ? .warning : .error))
    }

    @Test func `a script without the module gets a hint to require it`() {
        let found = FlowChecker(.standard).findings(in: Array("push.send {}\npush.sleep '1s'".utf8), name: "flow.lua")
        #expect(found.map(\.code) == ["script.unknown_global"])
        #expect(found.first?.hint == "begin the script with local push = require \"push\"")
    }

    @Test func `an undefined name that is only tested is a warning`() {
        let found = findings(in: "if debugging then print 'x' end\nlocal a = limit or 5\nprint(a == other)")
        #expect(found.map(\.severity) == [.warning, .warning, .warning])
    }

    @Test(
        arguments: [
            ("push.device { name = 'a' }\npush.args {}", ["args.not_first 2:1"]), ("push.args {}\npush.args {}", ["args.not_first 2:1"]),
            ("local function f() push.device { name = 'a' } end\nif x then f() end\npush.args {}", ["script.unknown_global 2:4"]),
            ("push.log 'x'\npush.args {}", []),
            ("push.args { user = { type = 'strng' } }", ["args.declaration 1:13"]),
            ("push.args { user = { defualt = 1 } }", ["args.declaration 1:22"]),
            (
                "push.args { n = { type = 'integer', default = 5, max = 3 }, seed = {} }",
                ["args.declaration 1:13", "args.declaration 1:61"]
            ),
            ("push.args { n = { type = ..., default = 5 }, m = { default = os.date() } }", []),
            ("local args = push.args { user = {} }\nprint(args.usr, args.user)", ["check.unknown_option 2:12"]),
            ("local args = push.args(...)\nprint(args.anything)", []),
        ])
    func `invalid declarations of options are errors`(lua: String, expected: [String]) {
        #expect(marks(lua) == expected, "\(findings(in: lua))")
    }

    @Test func `namespaces of any depth come from the registry`() {
        let bindings: [Binding] = [
            Binding(
                "push.deep.space.nine", "A.",
                takes: .positional([.required("name", .string, "who")]),
                example: "", body: .prelude),
            Binding(
                "push.deep.station:dock", "B.",
                takes: .table([.required("ship", .string, "which")]),
                example: "", body: .prelude),
            Binding(
                "push.deep.ship", "C.",
                takes: .value,
                returns: "push.Ship",
                example: "", body: .prelude),
            Binding(
                "ship:fly", "D.",
                example: "", body: .prelude),
        ]
        let checker = FlowChecker(BindingRegistry(bindings, types: [], handles: []))
        func codes(_ lua: String) -> [String] { findings(in: lua, checker: checker).map { "\($0.code) \($0.column)" } }
        #expect(codes("push.deep.space.nine 'x' push.deep.station:dock { ship = 'a' } push.deep.ship:fly()") == [])
        #expect(codes("push.deep.space.ten()") == ["script.unknown_name 17"])
        #expect(codes("push.deep.spaces.nine()") == ["script.unknown_name 11"])
        #expect(codes("push.deep.station:dok {}") == ["script.unknown_name 19"])
        #expect(codes("push.deep.station:dock { shp = 'a' }") == ["args.unknown_key 26"])
        #expect(codes("push.deep.station.dock { ship = 'a' }") == ["args.receiver 1"])
        #expect(codes("push.deep.ship:flee()") == ["script.unknown_name 16"])
        #expect(codes("push.deep.space:nine 'x'") == ["args.receiver 17"])
    }

    @Test func `findings are in the order of the script, at most 1,001, and secrets are always reported`() {
        let lines = (1...3000).map { "push.a\($0)()" }.joined(separator: "\n")
        let found = findings(in: lines)
        #expect(found.count == 1001)
        #expect(found.map(\.line) == found.map(\.line).sorted())
        #expect(found.filter { $0.code == "check.too_many" }.map(\.line) == [1002])
        let secret = "push.login { username = 'a', password = 'hunter2' }"
        for count in [999, 1000, 1001, 3000] {
            let many = (1...count).map { "push.a\($0)()" }.joined(separator: "\n")
            #expect(findings(in: "\(many)\n\(secret)").contains { $0.code == "check.secret" }, "\(count)")
        }
    }

    @Test func `the deepest nesting that Lua accepts is checked completely`() {
        for (open, inner, close) in [
            ("(", "push.sned", ")"), ("{ a = ", "push.sned", "}"), ("(function() return ", "push.sned", " end)()"),
            ("f(", "push.sned", ")"),
            ("push.try(function() return ", "push.sned", " end)"), ("not ", "push.sned", ""),
        ] {
            let depth = open.contains("function") ? 60 : 180
            let lua = "local f = ... return " + String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
            #expect(findings(in: lua).map(\.code) == ["script.unknown_name"], "\(open)")
        }
    }

    @Test func `scripts with a missing word are checked to their end`() throws {
        let root = PackageText.root.appending(path: "scripts")
        for name in ["breaking_news.lua", "secure_push.lua", "spec/notify_users_spec.lua"] {
            let source = [UInt8](FileManager.default.contents(atPath: root.appending(path: name).path) ?? Data())
            let words = source.split { !($0 == 0x5f || (0x61...0x7a).contains($0 | 0x20)) }
            try #require(words.count > 100)
            for word in words.enumerated().filter({ $0.offset % 5 == 0 }).map(\.element) {
                let changed = source[..<word.startIndex] + source[word.endIndex...]
                for finding in FlowChecker(.standard).findings(in: Array(changed), name: name) {
                    #expect(finding.line >= 1 && finding.column >= 1)
                    #expect((finding.line, finding.column) <= (finding.endLine, finding.endColumn))
                }
            }
        }
    }
}
