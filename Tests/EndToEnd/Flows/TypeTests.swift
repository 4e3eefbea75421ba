import Bindings
import HostSupport
import PushModel
import Testing

/// The described types match the values that scripts get.
@Suite struct TypeTests {
    /// Records the keys of every value that a script can obtain, with the Lua type of each.
    private static let survey = """
        local seen = {}
        local function note(name, value, keys)
          local found = {}
          for key, item in pairs(keys or value) do
            if keys then key, item = item, value[item] end
            found[key] = math.type(item) or type(item)
          end
          seen[name] = seen[name] or {}
          table.insert(seen[name], found)
        end
        local function notes(name, list) for _, value in ipairs(list) do note(name, value) end end
        local s = login "alice"
        note("push.Session", s, { "username", "expires" })
        local ana = push.device { name = "ana", platform = "apns", user = "alice" }
        local wei = push.device { name = "wei", platform = "wns" }
        for _, device in ipairs { ana, wei } do note("push.Device", device, { "name", "platform", "user", "locale", "time_zone" }) end
        note("push.Registration", s:register {
          device = ana, tags = { "x" }, template = { name = "news", body = '{"aps":{"alert":"$(a)","badge":"#(b)"}}' },
        })
        note("push.Registration", s:register { device = wei, tags = { "x" } })
        local outcomes = {
          push.send { to = "x", properties = { a = "Hello", b = "3" } }, push.send { to = "x", alert = "Hello" },
          push.send { to = "nobody", alert = "Hello" }, push.send { device = ana, payload = { apns = { aps = { ["content-available"] = 1 } } } },
          s:send { to = "alice", alert = "Hello" }, push.schedule { after = "1h", to = "x", alert = "Later" },
        }
        local long = { a = ("a"):rep(5000), b = "3" }
        for _, plan in ipairs {
          push.plan { to = "x" }, push.plan { to = "x" }, push.plan { to = "x", properties = { a = "Hello", b = "3" }, keep = false },
          push.plan { to = "x", properties = long }, push.plan { to = "x && nobody", alert = "Hi" }, push.plan { to = "nobody", alert = "Hi" },
        } do
          note("push.Plan", plan) notes("push.PlanGroup", plan.groups) notes("push.PlanTemplate", plan.templates)
          notes("push.FailedTerm", plan.failed_terms)
          if plan.difference then note("push.PlanDifference", plan.difference) end
        end
        note("push.Installation", push.install("i-1", { device = wei, tags = { "x" }, user = "alice", expires_in = "1d", templates = {
          one = { body = "<toast/>", tags = { "y" }, expiry = "2026-02-01T00:00:00Z" }, two = "<toast/>" } }))
        note("push.Installation", push.install("i-2", { device = wei }))
        for _, template in pairs(push.installation("i-1").templates) do note("push.InstallationTemplate", template) end
        local inner = push.run("inner.lua", {})
        note("push.Run", inner) note("push.Run", push.run("silent.lua"))
        notes("push.RunStep", inner.steps) notes("push.ShownItem", inner.shown) notes("push.Warning", inner.warnings)
        ana:uninstall() ana:reinstall()
        table.insert(outcomes, push.send { to = "x", properties = { a = "Hello", b = "3" } })
        for _, outcome in ipairs(outcomes) do
          note("push.Outcome", push.outcome(outcome.id))
          notes("push.DeviceOutcome", outcome.devices)
        end
        ana:show { title = "Note", body = "from the app" }
        push.send { device = ana, alert = "Hello", title = "Title" }
        push.send { device = ana, payload = { apns = { aps = { alert = "Three", badge = 3 } } } }
        push.send { device = ana, payload = { apns = { aps = { ["content-available"] = 1 } } } }
        push.sleep "1s"
        notes("push.InboxItem", ana:inbox()) notes("push.InboxItem", wei:inbox())
        notes("push.Exchange", push.wire())
        for _, call in ipairs { { push.login, { username = "eve", password = "x" } }, { push.send, { too = "x" } }, { push.fail, "x" } } do
          local _, err = pcall(call[1], call[2])
          note("push.Error", err)
        end
        local expectation = push.expect(1)
        note("push.Expectation", expectation) note("push.Matchers", expectation.to)
        expectation.to.equal(1)
        expectation = push.expect(2)
        note("push.Matchers", expectation.to_not)
        expectation.to_not.equal(1)
        local receipt = s:send_secure { to = "alice", payload = { code = 1 } }
        s:fetch_secure_payload(receipt.id)
        note("push.SecureReceipt", receipt) notes("push.SecureRead", s:secure_reads(receipt.id))
        push.sleep "1s"
        notes("push.InboxItem", wei:inbox())
        note("push.Simulators", push.simulator) note("push.Simulator", push.simulator.apns, { "service" })
        note("push.LocalTime", push.clock.zone "Europe/Lisbon")
        local sent = push.send { to = "username:alice || x", alert = "Hello" }
        for _, device in ipairs { "alice", "stranger", false } do
          local trace = push.trace { notification = sent.id, device = device or nil }
          note("push.Trace", trace) notes("push.TraceLine", trace.lines) notes("push.TracedDevice", trace.others)
          notes("push.TraceCount", trace.causes)
        end
        note("push.Log", push.log) note("push.Target", push.target)
        return seen
        """

    /// Fields that never occur in a rehearsal, because no remote service responds.
    private static let outOfReach = ["push.Error": ["tracking_id"]]

    /// Types that only plugins and their specs use.
    private static let ofPlugins = Set(
        PhaseReference.entries.compactMap(\.argument?.name) + [
            "push.GroupDevice", "push.HTTPAnswer", "push.KeyValueEntry", "push.OutboundRequest",
        ])

    @Test func `every value has exactly the fields of its description, with their types`() async throws {
        let run = try await rehearse(
            Self.survey,
            beside: [
                "inner.lua": """
                local push = require "push"
                push.step("show", function() push.find_device("ana"):show { body = "from inside" } end)
                push.send { to = "nobody", alert = "Hello" }
                return { done = true }
                """,
                "silent.lua": "",
            ])
        if let error = run.error { Issue.record("\(error)") }
        let seen = try #require(run.report.result)
        for type in BindingRegistry.standard.types where !type.fields.isEmpty && !Self.ofPlugins.contains(type.name) {
            let values = try #require(seen[type.name]?.array, "\(type.name) was not looked at")
            var found: Set<String> = []
            for value in values {
                let keys = value.object?.keys ?? []
                found.formUnion(keys)
                for field in type.fields {
                    guard let kind = value[field.name]?.string, kind != "nil" else {
                        #expect(field.isOptional, "\(type.name) without \(field.name): \(keys)")
                        continue
                    }
                    #expect(Self.kinds(of: field.type).contains(kind), "\(type.name).\(field.name) is a \(kind)")
                }
            }
            let names = Set(type.fields.map(\.name))
            #expect(found.isSubset(of: names), "\(type.name) has \(found.subtracting(names)) too")
            let missing = names.subtracting(found).subtracting(Self.outOfReach[type.name] ?? [])
            #expect(missing.isEmpty, "\(type.name): no value has \(missing)")
        }
    }

    /// The Lua types that a described type allows.
    private static func kinds(of text: String) -> Set<String> {
        if text == "any" { return ["table", "string", "integer", "float", "boolean"] }
        if text.hasPrefix("fun(") { return ["function"] }
        if text.hasSuffix("[]") || text.hasPrefix("table<") { return ["table"] }
        if text.contains("|") { return text.split(separator: "|").reduce(into: []) { $0.formUnion(kinds(of: String($1))) } }
        if text.hasPrefix("\"") { return ["string"] }
        guard let type = BindingRegistry.standard.type(named: text) else { return [text] }
        if type.name == "push.Simulator" { return ["userdata"] }
        return [type.values.isEmpty ? "table" : "string"]
    }

    @Test func `the values of a described enumeration are those that scripts get`() async throws {
        let text = try await result(
            of: """
                local _, misuse = pcall(push.send, {})
                local _, failure = pcall(push.fail, "x")
                local outcome = push.send { to = "nobody", alert = "x" }
                return { misuse.kind, failure.kind, outcome.state, push.device { name = "f", platform = "fcm" }.platform }
                """)
        #expect(text == #"["misuse","failure","NoTargetFound","fcm"]"#)
        for (type, word) in zip(["ErrorKind", "ErrorKind", "State", "Platform"], ["misuse", "failure", "NoTargetFound", "fcm"]) {
            #expect(BindingRegistry.standard.type(named: type)?.values.contains(word) == true)
        }
    }
}
