import Bindings
import HostSupport
import Lua
import Testing

/// Registrations of a phone with and without a template.
@Suite struct RegistrationKindTests {
    private static let template = #"template = '{"aps":{"alert":"$(text)"}}'"#

    @Test(arguments: [
        ("s:register { device = p, \(template) } s:register { device = p }", "without a template"),
        ("s:register { device = p } s:register { device = p, \(template) }", "with a template"),
        ("s:register { device = p } push.register { session = s, device = p, \(template) }", "with a template"),
        ("s:register { device = p, \(template) } push.run 'inner.lua'", "without a template"),
    ])
    func `replacing a registration by one of the other kind warns once, at its line`(lua: String, now: String) async throws {
        let inner =
            "local push = require 'push' push.login { username = 'alice', password = push.secret 'demo_password' }"
            + ":register { device = push.find_device 'ana' }"
        let run = try await rehearse("local s, p = login 'alice', push.device { name = 'ana' }\n\(lua)", beside: ["inner.lua": inner])
        #expect(run.hasPassed, "\(run.error.debugDescription)")
        #expect(run.warnings.map(\.code) == ["hub.registration_replaced"])
        #expect(run.warnings.first?.message.hasPrefix("ana is now registered \(now)") == true)
        #expect(run.warnings.first?.near.first?.contains("push.install") == true)
    }

    @Test func `replacing an installation with templates by one without them warns, at its line`() async throws {
        let templates = #"templates = { news = '{"aps":{"alert":"$(text)"}}' }"#
        let run = try await rehearse(
            """
            local p = push.device { name = 'ana' }
            push.install("i", { device = p, \(templates) })
            push.install("i", { device = p })
            push.install("i", { device = p })
            push.install("j", { device = p })
            push.install("j", { device = p, \(templates) })
            push.uninstall("j")
            push.install("j", { device = p })
            push.install("k", { device = p, \(templates) })
            push.patch("k", { { op = "remove", path = "/templates/news" } })
            push.install("k", { device = p })
            """)
        #expect(run.hasPassed, "\(run.error.debugDescription)")
        #expect(run.warnings.map(\.code) == ["hub.registration_replaced"])
        #expect(run.warnings.first?.message == "installation \"i\" has no templates now: it replaced one that had some")
        #expect(run.warnings.first?.location?.line == 3)
    }

    @Test func `registering again with the same kind does not warn and counts once`() async throws {
        let run = try await rehearse(
            """
            local s, p, q = login "alice", push.device { name = "ana" }, push.device { name = "wei", platform = "fcm" }
            push.step("twice", function() s:register { device = p } s:register { device = p, tags = { "x" } } end)
            push.step("three", function()
              s:register { device = p } s:register { device = q }
              for _ = 1, 2 do push.install("i-1", { device = q, templates = { news = '{"message":{"data":{"t":"$(t)"}}}' } }) end
            end)
            """)
        #expect(run.warnings.isEmpty)
        #expect(run.steps.map(\.registrations) == [1, 3])
    }

    @Test func `a secure payload that matches only templates warns with a fix that works`() async throws {
        let send = "s:send_secure { to = 'alice', payload = 'x' }"
        let run = try await rehearse(
            "local s, p = login 'alice', push.device { name = 'ana' } s:register { device = p, \(Self.template) } \(send)")
        let near = run.warnings.first?.near ?? []
        #expect(near.first == "1 template registration matches; native payloads do not reach templates, properties do")
        #expect(near.last?.contains("push.install with templates") == true)
        #expect(!near.contains { $0.contains("send properties") })
        let followed = try await rehearse(
            """
            local s, p = login 'alice', push.device { name = 'ana' }
            push.install("ana-1", { device = p, tags = { "username:alice" }, templates = { news = '{"aps":{"alert":"$(text)"}}' } })
            \(send)
            """)
        #expect(followed.hasPassed && followed.warnings.isEmpty, "\(followed.warnings) \(followed.error.debugDescription)")
    }
}
