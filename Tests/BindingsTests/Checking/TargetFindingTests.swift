import FoundationEssentials
import Lua
import Testing

@testable import Bindings
@testable import PushModel

/// Findings in scripts that are checked for Azure or for a served hub.
@Suite struct TargetFindingTests {
    private static let opening =
        "local phone = push.device { name = 'a' } local s = push.login { username = 'a', password = push.secret 'p' }\n"

    /// Each finding as `CODE LINE:COLUMN`; line 1 is the first line of the test's own text.
    private func marks(_ lua: String, _ target: CheckedTarget = .azure) -> [String] {
        findings(in: Self.opening + lua, checker: FlowChecker(.standard, target: target)).map { "\($0.code) \($0.line - 2):\($0.column)" }
    }

    // MARK: - Missing features

    @Test(
        arguments: [
            "phone:inbox()", "phone:wait_for { alert = 'x' }", "phone:next_push()", "phone:on_push(function(item) phone:show 'x' end)",
            "phone:show 'x'", "phone:offline()", "phone:online()", "phone:low_power()", "phone:full_power()", "phone:force_quit()",
            "phone:launch()", "phone:rotate_token()",
            "phone:uninstall()", "phone:reinstall()", "phone:handle_pushes()", "push.devices()", "push.find_device 'a'", "push.wire()",
            "push.clock.advance '1s'", "push.simulator.apns:fail { reason = 'x' }", "push.simulator.wns:latency '1s'",
            "push.simulator.fcm:revoke_tokens()", "push.simulator.fcm:disconnect()", "push.simulator.gcm:reset()",
            "push.simulator.browser:reasons()", "phone.inbox(phone)",
        ])
    func `using inboxes, recorded requests, faults or the clock outside of a rehearsal is a finding`(call: String) {
        for target in [CheckedTarget.azure, .pushhost] {
            #expect(marks(call, target) == ["target.unsupported 1:1"])
            #expect(marks("push.rehearse('x', function() \(call) end)", target) == [])
        }
        #expect(marks(call, .embedded) == [])
    }

    @Test func `plans are a finding for Azure and not for a served hub`() {
        for (call, mark) in [
            ("push.plan { to = 'a', alert = 'x' }", "1:18"), ("push.send { plan = 'p-0001' }", "1:20"),
        ] {
            #expect(marks(call) == ["target.unsupported \(mark)"])
            #expect(marks(call, .pushhost) == [] && marks(call, .embedded) == [])
        }
        #expect(marks("push.send { plan = 'p-0001', to = 'a' }", .embedded) == ["send.audience 1:30"])
        #expect(marks("push.send { plan = 'p-0001', tolerance = 'some' }", .embedded) == ["plan.tolerance 1:42"])
        #expect(marks("push.send { plan = 'p-0001', toleranc = 1 }", .embedded) == ["args.unknown_key 1:30"])
    }

    @Test(
        arguments: [
            "phone:handle()", "phone:storage().a = 'b'", "phone:storage_read()", "phone:storage_write('a', 'b')", "phone:categories()",
            "s:register { device = phone, tags = { 'a' } }", "push.subscribe { device = phone, categories = { 'a' } }",
            "push.send { device = phone, alert = 'x' }", "for one in push.installations {} do print(one.id) end", "push.clock.now()",
            "push.sleep '1s'", "print(push.target.name)",
            "push.send { to = 'a', alert = 'x', test = true, priority = 'high', collapse_id = 'x' }", "local p = ... p:inbox()",
        ])
    func `calls that real targets support, and calls on unknown values, have no finding`(call: String) {
        #expect(marks(call) == [])
    }

    @Test(
        arguments: [
            // Called only from a rehearsal, directly or not.
            ("local function look() phone:inbox() end push.rehearse('x', function() look() end)", []),
            ("local function look() phone:inbox() end push.rehearse('x', look)", []),
            ("local look = function() phone:inbox() end\nlocal function all() look() end\npush.rehearse('x', function() all() end)", []),
            ("local look\npush.rehearse('x', function() look() end)\nlook = function() phone:inbox() end", []),
            ("function look() phone:inbox() end", ["check.global 1:10"]),
            ("local function look() phone:inbox() look() end", []),
            ("local rehearse = push.rehearse\nrehearse('x', function() phone:inbox() end)", []),
            ("push.test.it('x', function() phone:inbox() end)", []),
            ("local it = push.test.it\nlocal function look() phone:inbox() end\nit('x', function() look() end)", []),
            // Also called elsewhere.
            (
                "local function look() phone:inbox() end\npush.rehearse('x', function() look() end)\nlook()",
                ["target.unsupported 1:23"]
            ),
            ("local function look() phone:inbox() end\npush.step('x', look)", ["target.unsupported 1:23"]),
            ("push.step('x', function() phone:inbox() end)", ["target.unsupported 1:27"]),
            ("push.all { function() phone:inbox() end }", ["target.unsupported 1:23"]),
            ("local jobs = { function() phone:inbox() end }\npush.all(jobs)", ["target.unsupported 1:27"]),
            ("local jobs = { function() phone:inbox() end }", []),
            ("for _ = 1, 2 do phone:inbox() end", ["target.unsupported 1:17"]),
            ("(function() phone:inbox() end)()", ["target.unsupported 1:13"]),
            // Called through a table or a parameter.
            ("local help = { look = function() phone:inbox() end }\nhelp.look()", ["target.unsupported 1:34"]),
            ("local help = {}\nfunction help.look() phone:inbox() end\nhelp:look()", ["target.unsupported 2:22"]),
            ("local help = {}\nfunction help.look() phone:inbox() end\nreturn help", []),
            ("local function look() phone:inbox() end\nreturn { look = look }", []),
            (
                "local function twice(work) work() work() end\npush.rehearse('x', function() twice(function() phone:inbox() end) end)\ntwice(print)",
                []
            ),
            ("local function twice(work) work() work() end\ntwice(function() phone:inbox() end)", ["target.unsupported 2:18"]),
            ("local function shown(work) push.rehearse('x', work) end\nshown(function() phone:inbox() end)", []),
            // Inside a check of the target.
            ("if push.target.simulated then phone:inbox() else push.wire() end", []),
            ("local sim = push.target.simulated\nif sim then phone:inbox() end\nphone:inbox()", ["target.unsupported 3:1"]),
            ("local function look()\nif not push.target.simulated then return end\nphone:inbox()\nend\nlook()", []),
            ("if push.target.name == 'embedded' and #phone:inbox() > 0 then print 'x' end", []),
            ("print(push.target.simulated and phone:inbox())\nphone:inbox()", ["target.unsupported 2:1"]),
            ("if phone.user then phone:inbox() end", ["target.unsupported 1:20"]),
            ("print(phone.user and phone:inbox())", ["target.unsupported 1:22"]),
        ] as [(String, [String])])
    func `a function is checked for each place that calls it`(lua: String, expected: [String]) {
        #expect(marks(lua) == expected)
    }

    @Test func `a finding names the missing feature and the target, and says what to do`() throws {
        let azure = try #require(findings(in: Self.opening + "push.wire()", checker: FlowChecker(.standard, target: .azure)).first)
        #expect(azure.severity == .error)
        #expect(azure.message == "push.wire needs recorded requests to push services: Azure Notification Hubs has none")
        #expect(azure.hint == "put it into push.rehearse(\"…\", function() … end), which is skipped there")
        let served = try #require(findings(in: Self.opening + "push.wire()", checker: FlowChecker(.standard, target: .pushhost)).first)
        #expect(served.message == "push.wire needs recorded requests to push services: a served hub without a lab has none")
    }

    @Test func `tracing a notification is a finding for Azure alone`() throws {
        let lua = Self.opening + "push.trace { notification = 'n-1' }"
        #expect(findings(in: lua, checker: FlowChecker(.standard, target: .azure)).map(\.code) == ["target.unsupported"])
        #expect(findings(in: lua, checker: FlowChecker(.standard, target: .pushhost)).isEmpty)
    }

    @Test func `a binding that needs a feature of its target lists the error for targets without it`() {
        let needy = BindingRegistry.standard.bindings.filter { $0.conditions.needs != nil }
        #expect(needy.count >= 20)
        for binding in needy { #expect(binding.errors.contains("target.unsupported"), "\(binding.name)") }
    }

    // MARK: - Limits

    private static func list(_ count: Int) -> String { "{ " + (1...count).map { "'t\($0)'" }.joined(separator: ", ") + " }" }

    private static func text(_ count: Int) -> String { "'" + String(repeating: "x", count: count) + "'" }

    @Test(
        arguments: [
            ("push.send { to = 'a && b && c && d && e && f', alert = 'x' }", []),
            ("push.send { to = 'a && b && c && d && e && f && g', alert = 'x' }", ["azure.limits 1:18"]),
            ("push.schedule { after = '1h', to = 'a && b && c && d && e && !f && g', alert = 'x' }", ["azure.limits 1:36"]),
            ("push.send { to = push.tag.any \(list(20)), alert = 'x' }", []),
            ("push.send { to = push.tag.any \(list(21)), alert = 'x' }", ["azure.limits 1:18"]),
            ("push.send { to = push.tag.all \(list(7)), alert = 'x' }", ["azure.limits 1:18"]),
            ("push.send { to = push.tag.none \(list(7)), alert = 'x' }", ["azure.limits 1:18"]),
            ("push.send { to = push.tag.all { push.tag.any \(list(6)), push.tag.user 'a' }, alert = 'x' }", ["azure.limits 1:18"]),
            ("local to = push.tag.all \(list(7))\npush.send { to = to, alert = 'x' }", ["azure.limits 2:18"]),
            ("push.tag.match(push.tag.all \(list(7)), {})", []),
            ("local names = ... push.send { to = push.tag.any(names), alert = 'x' }", []),
            ("s:register { device = phone, tags = \(list(59)) }", []),
            ("s:register { device = phone, tags = \(list(60)) }", ["azure.limits 1:37"]),
            ("push.register { session = s, device = phone, tags = \(list(60)) }", ["azure.limits 1:53"]),
            ("push.subscribe { device = phone, categories = \(list(60)) }", []),
            ("push.subscribe { device = phone, categories = \(list(61)) }", ["azure.limits 1:47"]),
            ("push.install('i', { device = phone, tags = \(list(61)) })", ["azure.limits 1:44"]),
            ("push.install('i', { device = phone, tags = { '$UserId:{a}', '$UserId:{b}' } })", ["tag.reserved 1:44"]),
            ("push.install('i', { platform = 'apns', push_channel = 'xyz' })", ["handle.invalid 1:55"]),
            ("push.install('i', { platform = 'apns', push_channel = 'a1b2' })", []),
            ("push.install('i', { device = phone, templates = { [\(text(201))] = '{}' } })", ["template.name 1:52"]),
            ("s:register { device = phone, template = { name = \(text(201)), body = '{}' } }", ["template.name 1:50"]),
            ("s:register { device = phone, template = { name = \(text(200)), body = '{}' } }", []),
        ] as [(String, [String])])
    func `tags, expressions and names beyond Azure's limits are findings`(lua: String, expected: [String]) {
        #expect(marks(lua) == expected)
        #expect(marks(lua, .embedded) == [])
        #expect(marks(lua, .pushhost) == [])
    }

    @Test(
        arguments: [
            ("push.send { to = 'a', alert = \(text(3900)) }", []),
            ("push.send { to = 'a', alert = \(text(4096)) }", ["payload.too_large 1:31"]),
            ("push.send { to = 'a', title = \(text(2000)), alert = \(text(2100)) }", ["payload.too_large 1:2043"]),
            ("s:send { to = 'b', alert = \(text(4096)) }", ["payload.too_large 1:28"]),
            ("push.send { to = 'a', payload = { wns = \(text(5000)) } }", []),
            ("push.send { to = 'a', payload = { wns = \(text(5001)) } }", ["payload.too_large 1:33"]),
            ("push.send { to = 'a', payload = { apns = { aps = { alert = \(text(4096)) } } } }", ["payload.too_large 1:33"]),
            (
                "push.send { to = 'a', payload = { apns = { x = \(text(4500)) } }, headers = { apns = { ['apns-push-type'] = 'voip' } } }",
                []
            ),
            ("local h = ... push.send { to = 'a', payload = { apns = { x = \(text(4500)) } }, headers = { apns = h } }", []),
            ("local x = ... push.send { to = 'a', payload = { apns = { x = x } } }", []),
            ("push.send { to = 'a', payload = { apns = 'x' } }", ["payload.invalid 1:33"]),
            ("push.send { to = 'a', properties = { m = \(text(65_536)) } }", ["payload.too_large 1:36"]),
            ("push.send { to = 'a', properties = { [\(text(121))] = 'x' } }", ["payload.property_name 1:39"]),
            ("push.send { to = 'a', alert = 'x', collapse_id = \(text(65)) }", ["payload.collapse_id 1:50"]),
            ("push.send { to = 'a', properties = { m = 'x' }, priority = 'high' }", ["target.unsupported 1:49"]),
            ("push.send { to = 'a', properties = { m = 'x' }, collapse_id = 'x' }", ["target.unsupported 1:49"]),
            ("push.send { to = 'a', properties = { m = 'x' }, expires_in = '1h' }", []),
        ] as [(String, [String])])
    func `content that Azure's limits or message formats exclude is a finding`(lua: String, expected: [String]) {
        #expect(marks(lua) == expected)
        #expect(marks(lua, .embedded) == [])
    }

    @Test func `a call that is wrong on every target has one finding`() {
        #expect(marks("push.send { tags = 'a', alert = \(Self.text(5000)) }") == ["args.unknown_key 1:13"])
        #expect(marks("push.send { to = 'a &&', alert = 'x' }").count == 1)
        #expect(marks("push.schedule { after = '8d', to = 'a', alert = 'x' }").count == 1)
    }

    @Test func `the project's flows pass for every target, and their specs need rehearsals`() throws {
        let root = PackageText.root.appending(path: "scripts")
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".lua") }
        #expect(names.count >= 12)
        for name in names {
            let source = FileManager.default.contents(atPath: root.appending(path: name).path) ?? Data()
            for target in CheckedTarget.allCases {
                let checker = FlowChecker(.standard, modules: .folders([root.path]), target: target)
                #expect(checker.findings(in: [UInt8](source), name: name) == [], "\(name), \(target)")
            }
        }
    }

    // MARK: - Names of targets

    @Test(
        arguments: [
            ("azur", "unknown kind of target \"azur\"; did you mean \"azure\"?"),
            ("Azure", "unknown kind of target \"Azure\"; did you mean \"azure\"?"),
            ("pushost", "unknown kind of target \"pushost\"; did you mean \"pushhost\"?"),
            ("staging", "unknown kind of target \"staging\""),
        ])
    func `an unknown target is refused with the nearest name`(name: String, message: String) throws {
        let error = try #require(throws: PushError.self) { try CheckedTarget(named: name) }
        #expect(error.code == "usage.option" && error.message == message)
        #expect(error.hint == "--target must be embedded, pushhost or azure")
    }

    @Test func `a connection string is refused and not repeated`() throws {
        let text = "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=c2VjcmV0"
        let error = try #require(throws: PushError.self) { try CheckedTarget(named: text) }
        #expect(!"\(error)".contains("c2VjcmV0"))
        #expect(error.hint?.hasSuffix("for this target write azure") == true)
        let address = try #require(throws: PushError.self) { try CheckedTarget(named: "http://127.0.0.1:8080") }
        #expect(address.hint?.hasSuffix("for this target write pushhost") == true)
    }
}
