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

    @Test func `patches change all or nothing; uninstalling twice is fine`() async throws {
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
    func `what is no installation is refused`(lua: String, code: String) async throws {
        #expect(try await failure(of: lua).code == code)
    }
}
