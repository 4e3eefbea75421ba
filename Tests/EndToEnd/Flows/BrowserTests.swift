import Bindings
import Foundation
import HostSupport
import PushModel
import Support
import Testing

@Suite struct BrowserTests {
    @Test func `a template send reaches a template registration of a browser, and an alert does not`() async throws {
        let run = try await rehearse(
            """
            local s = login "alice"
            local p = push.device { name = "laptop", platform = "browser" }
            s:register { device = p, tags = { "Sports" }, template = '{"title":"$(topic)","body":"$(text)"}' }
            local passed = push.send { to = "Sports", alert = "not for templates" }
            local outcome = push.send { to = "Sports", properties = { topic = "Goal", text = "1:0" } }
            return { passed.state, outcome.sent, p:inbox()[1].text, #p:inbox(), outcome.counts.browser.Success }
            """)
        #expect(run.result == #"["NoTargetFound",1,"Goal\n1:0",1,1]"#)
        #expect(run.shown == ["laptop: Goal\n1:0"])
    }

    @Test func `the sender's options and headers appear on the wire, and a collapse id replaces a waiting push`() async throws {
        let text = try await result(
            of: """
                local p = phone(login "alice", "laptop", "browser")
                p:offline()
                local function send(n) return push.send { to = "username:alice", alert = "Score " .. n, collapse_id = "score board",
                    expires_in = "1h", priority = "high" } end
                send(1) send(2)
                p:online()
                push.send { device = p, payload = { browser = "plain" }, headers = { browser = { ttl = "7", topic = "t" } } }
                local first, second, last = table.unpack(push.wire "browser")
                return {
                    #p:inbox(), p:inbox()[1].text, p:inbox()[2].text, first.headers.TTL, first.headers.Urgency,
                    first.headers.Topic == second.headers.Topic, #first.headers.Topic, last.headers.TTL, last.headers.Topic,
                    first.status, first.response_headers.ttl,
                }
                """)
        #expect(text == #"[2,"Score 2","plain","3600","high",true,32,"7","t",201,"3600"]"#)
    }

    @Test func `the push service sees only ciphertext, and the browser's app decrypts the text`() async throws {
        let run = try await rehearse(
            """
            local p = phone(login "alice", "laptop", "browser")
            local got
            p:on_push(function(item) got = item.payload.secret p:show { title = "From the app", body = got } end)
            push.send { to = "username:alice", payload = { browser = { secret = "rosebud" } } }
            push.sleep "1s"
            local x = push.wire "browser"[1]
            return { got, x.body:find("rosebud") == nil, x.json == nil, #x.body, x.headers.Authorization:match "^vapid t=%*%*%*, k=B" ~= nil }
            """)
        #expect(run.error == nil)
        #expect(run.result == #"["rosebud",true,true,123,true]"#)
        let wire = run.events.compactMap { if case .crossed(let exchange) = $0 { exchange } else { nil } }
        #expect(wire.count == 1)
        for exchange in wire { #expect(!exchange.request.body.contains(Array("rosebud".utf8))) }
        #expect(run.shown == ["laptop: From the app\nrosebud"])
    }

    @Test func `a rotated subscription is removed from the hub, and the new one counts as another device`() async throws {
        let text = try await result(
            of: """
                local s = login "alice"
                local p = phone(s, "laptop", "browser")
                local old = p:handle()
                p:rotate_token()
                push.sleep "1s"
                local outcome = push.send { to = "username:alice", alert = "Hello" }
                local row = outcome.devices[1]
                s:register { device = p }
                return { row.outcome, row.reason, row.registration_removed, old ~= p:handle(),
                    push.send { to = "username:alice", alert = "Again" }.sent, p:inbox()[1].text }
                """)
        #expect(text == #"["ExpiredChannel","Gone",true,true,1,"Again"]"#)
    }

    @Test func `a closed browser receives its pushes when it starts again`() async throws {
        let text = try await result(
            of: """
                local p = phone(login "alice", "laptop", "browser")
                p:force_quit()
                push.send { to = "username:alice", alert = "Now or never", expires_in = 0 }
                push.send { to = "username:alice", alert = "Tomorrow", expires_in = "1d" }
                push.sleep "23h"
                local before = #p:inbox()
                p:launch()
                return { before, #p:inbox(), p:inbox()[1].text }
                """)
        #expect(text == #"[0,1,"Tomorrow"]"#)
    }

    @Test func `a trace is reproducible byte for byte and shows the size in place of the ciphertext`() async throws {
        let lua = """
            local push = require "push"
            push.account { username = "ana", password = "correct horse" }
            local s = push.login { username = "ana", password = "correct horse" }
            for i = 1, 3 do s:register { device = push.device { name = "b" .. i, platform = "browser" } } end
            push.send { to = "username:ana", alert = "Hello" }
            for _, x in ipairs(push.wire "browser") do push.log.info(x.path, #x.body) end
            """
        let folder = try ScriptFolder(["flow.lua": lua])
        for options in [["--trace"], ["--trace", "--json"]] {
            let first = try await BuiltProgram.run(["run", "flow.lua"] + options, in: folder.url)
            let second = try await BuiltProgram.run(["run", "flow.lua"] + options, in: folder.url)
            #expect(first.status == 0)
            #expect(first.output == second.output)
            #expect(first.output.contains("130 bytes"))
            #expect(!first.output.contains("\u{fffd}"))
            let other = try await BuiltProgram.run(["run", "flow.lua", "--seed", "2"] + options, in: folder.url)
            #expect(other.output != first.output)
        }
        let text = try await BuiltProgram.run(["run", "flow.lua"], in: folder.url).output
        #expect(text.contains("b1  Browser en-US  ▌Hello"))
    }
}
