import HostSupport
import Lua
import Testing

@Suite struct SubscribeTests {
    @Test func `subscriptions support custom templates, other properties and every platform's default template`() async throws {
        let text = try await result(
            of: """
                local texts = {}
                for i, platform in ipairs { "apns", "fcm", "gcm", "wns", "browser" } do
                  push.subscribe { device = push.device { name = platform, platform = platform }, categories = { "News" }, property = "news_pt" }
                end
                local own = push.device { name = "own" }
                local registration = push.subscribe {
                  device = own, categories = { "News" }, template = { name = "mine", body = '{"aps":{"alert":{"title":"$(who)","body":"$(news_pt)"}}}' },
                }
                push.send { to = "News", properties = { news_pt = "Olá", who = "Ana" } }
                for i, p in ipairs(push.devices()) do texts[i] = p:inbox()[1].text end
                return { texts, registration.template_name, own:categories() }
                """)
        #expect(text == #"[["Olá","Olá","Olá","Olá","Olá","Ana\nOlá"],"mine",["News"]]"#)
    }

    @Test(
        arguments: [
            ("push.subscribe { device = p }", "args.missing"), ("push.subscribe { device = p, tags = { 'a' } }", "args.unknown_key"),
            ("push.subscribe { device = p, categories = { 'username:bob' } }", "subscription.category"),
            ("push.subscribe { device = p, categories = { 'a b' } }", "tag.invalid"),
            ("push.subscribe { device = p, categories = { 'a' }, template = '{' }", "template.document"),
            ("p:uninstall() push.subscribe { device = p, categories = { 'a' } }", "device.uninstalled"),
            ("p:storage().categories = 'x' p:categories()", "subscription.storage"),
        ])
    func `an invalid subscription is rejected`(lua: String, code: String) async throws {
        #expect(try await failure(of: "local p = push.device { name = 'p' }\n\(lua)").code == code)
    }

    @Test func `each reader gets the text in their own language`() async throws {
        let text = try await result(
            of: """
                local properties = push.locale.properties {
                  name = "News", texts = { en = "Goal", pt = "Golo" }, fallback = "en", languages = { "pt-BR", "zh-Hant" },
                }
                return {
                  properties, push.locale.choose("pt-BR", { "en", "pt" }, "en"), push.locale.choose("ja", { "en" }, "en"),
                  push.locale.property("News", "zh-Hant"),
                }
                """)
        #expect(
            text
                == #"[{"News":"Goal","News_en":"Goal","News_pt":"Golo","News_pt_BR":"Golo","News_zh_Hant":"Goal"},"pt","en","News_zh_Hant"]"#
        )
        #expect(try await failure(of: "push.locale.choose('pt_BR', { 'pt' }, 'en')").code == "localization.language")
        #expect(
            try await failure(of: "push.locale.properties { name = 'N', texts = { en = 'x' }, fallback = 'fr' }").code
                == "localization.fallback")
    }
}
