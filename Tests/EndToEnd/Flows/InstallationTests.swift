import Bindings
import HostSupport
import Lua
import Testing

@Suite struct InstallationTests {
    @Test func `an installation is reached by its tags, its user and its templates' names`() async throws {
        let lua = """
            local p = push.device { name = "ana-1", platform = "apns" }
            local made = push.install("i-1", {
              device = p, user = "ana", tags = { "Sports" }, push_variables = { who = "Ana" },
              templates = { news = '{"aps":{"alert":"$(text)"}}', hello = { body = '{"aps":{"alert":"{$(who) + \\\\'!\\\\'}"}}', tags = { "Hi" } } },
            })
            push.send { to = "Sports", alert = "native" }
            push.send { to = "news", properties = { text = "templated" } }
            push.send { to = "$UserId:{ana} && Hi", properties = { text = "x" } }
            local texts = {}
            for i, item in ipairs(p:inbox()) do texts[i] = item.text end
            return { texts, made.id, made.user, made.platform, made.tags, made.push_channel == p:handle():upper() }
            """
        #expect(
            try await result(of: lua.replacing("\\\\'", with: "\\'"))
                == #"[["native","templated","Ana!"],"i-1","ana","apns",["Sports"],true]"#)
    }

    @Test func `an expression inside text causes one warning, wherever the template is stored`() async throws {
        let lua = """
            local ana = push.device { name = "ana-1", platform = "apns" }
            local body = '{"aps":{"alert":"Hi $(name)"}}'
            push.account { username = "ana", password = push.secret "demo_password" }
            local session = push.login { username = "ana", password = push.secret "demo_password" }
            session:register { device = ana, template = body }
            session:register { device = ana, template = body }
            push.subscribe { device = ana, categories = { "a" }, template = '{"aps":{"alert":"Bye $(name)"}}' }
            push.install("i-1", { device = ana, templates = { one = body, two = { body = '{"aps":{"alert":"x $(name)"}}' } } })
            local headed = { body = '{"aps":{"alert":"$(name)"}}', headers = { ["apns-collapse-id"] = "id-$(name)" } }
            push.subscribe { device = ana, categories = { "a" }, template = headed }
            push.install("i-3", { device = ana, templates = { three = headed } })
            push.patch("i-3", { { op = "add", path = "/templates/four", value = { body = '{"aps":{"alert":"p $(name)"}}' } } })
            push.install("i-2", { device = ana, templates = { fine = [[{"aps":{"alert":"{'Hi ' + $(name)}"}}]] } })
            """
        let run = try await rehearse(lua)
        #expect(run.error == nil)
        #expect(run.warnings.map(\.code) == Array(repeating: "template.text", count: 5))
        #expect(
            run.warnings.map { $0.message.split(separator: "; ").last } == [
                "write {'Hi ' + $(name)}", "write {'Bye ' + $(name)}", "write {'x ' + $(name)}",
                "write {'id-' + $(name)}", "write {'p ' + $(name)}",
            ])
        #expect(run.warnings.map { $0.location?.line } == [5, 7, 8, 10, 12])
    }

    @Test func `patches apply completely or not at all, and uninstalling twice is allowed`() async throws {
        let lua = """
            push.install("i-1", { platform = "apns", push_channel = "AB01" })
            local patched = push.patch("i-1", { { op = "add", path = "/tags", value = { "a", "b" } }, { op = "remove", path = "/tags/a" } })
            local ok, err = push.try(push.patch, "i-1", { { op = "add", path = "/tags", value = "c" }, { op = "add", path = "/nope", value = "x" } })
            local tags = push.installation("i-1").tags
            push.uninstall("i-1") push.uninstall("i-1")
            local _, gone = push.try(push.installation, "i-1")
            return { patched.tags, err.code, tags, gone.code }
            """
        #expect(try await result(of: lua) == #"[["b"],"installation.patch",["b"],"hub.not_found"]"#)
    }

    @Test(
        arguments: [
            ("push.install('i', {})", "installation.channel"), ("push.install('i')", "installation.channel"),
            ("push.install({ device = 1 })", "args.wrong_type"), ("push.install()", "args.missing"),
            ("push.install('i', { platform = 'apns', push_channel = 'xyz' })", "handle.invalid"),
            ("push.install('i', { platform = 'apsn', push_channel = 'AB' })", "args.platform"),
            ("push.install('i', { handle = 'AB' })", "args.unknown_key"), ("push.install('i', 'x')", "args.wrong_type"),
            ("push.install('i', { platform = 'apns', push_channel = 'AB', templates = { n = { bdy = '' } } })", "args.unknown_key"),
            ("push.install('i', { platform = 'apns', push_channel = 'AB', tags = { '$UserId:{ana}' } })", "tag.reserved"),
            (
                "push.install('i', { platform = 'apns', push_channel = 'AB', templates = { n = { body = '{}', tags = { '$InstallationId:{j}' } } } })",
                "tag.reserved"
            ),
            ("push.patch('i', { { op = 'move', path = '/tags' } })", "installation.patch"),
            ("push.patch('i', { { op = 'add', path = '/tags', value = 'x' } })", "hub.not_found"),
        ])
    func `an invalid installation is rejected`(lua: String, code: String) async throws {
        #expect(try await failure(of: lua).code == code)
    }
}
