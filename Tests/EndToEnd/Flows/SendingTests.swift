import Bindings
import HostSupport
import Lua
import PushModel
import Testing

@Suite struct SendingTests {
    @Test(arguments: ["apns", "fcm", "gcm", "wns", "browser"])
    func `an alert is shown on a phone of every platform`(platform: String) async throws {
        let run = try await rehearse(
            """
            local p = phone(login "alice", "a-1", "\(platform)")
            local outcome = push.send { to = push.tag.user "alice", title = "News", alert = "Hello" }
            local item = p:wait_for { alert = "Hello", title = "News", within = "5s" }
            local row = outcome.devices[1]
            return { outcome.state, outcome.sent, outcome.failed, item.body, item.shown, row.name, row.outcome, p.platform }
            """)
        let raw = platform
        #expect(run.result == #"["Completed",1,0,"Hello",true,"a-1","Success","\#(raw)"]"#)
        #expect(run.shown == ["a-1: News\nHello"])
        #expect(run.report.sends.delivered == 1)
    }

    @Test func `one send reaches every platform of a user, each with its own request`() async throws {
        let text = try await result(
            of: """
                local s = login "alice"
                for _, name in ipairs { "apns", "fcm", "gcm", "wns", "browser" } do phone(s, name, name) end
                local outcome = push.send { to = "username:alice", alert = "Hello" }
                local hosts = {}
                for _, x in ipairs(push.wire()) do hosts[#hosts + 1] = x.host .. " " .. x.status end
                return {
                    sent = outcome.sent, apns = #push.wire "apns", fcm = #push.wire "fcm", gcm = #push.wire "gcm",
                    wns = #push.wire "wns", browser = #push.wire "browser", json = push.wire "apns"[1].json.aps.alert, all = #hosts,
                }
                """)
        #expect(text == #"{"all":7,"apns":1,"browser":1,"fcm":3,"gcm":3,"json":"Hello","sent":5,"wns":2}"#)
    }

    @Test func `properties fill templates, and alerts do not reach template registrations`() async throws {
        let run = try await rehearse(
            """
            local s = login "alice"
            local p = push.device { name = "a-1" }
            s:register { device = p, tags = { "Sports" }, template = '{"aps":{"alert":"$(messageParam)"}}' }
            local passed = push.send { to = "Sports", alert = "not for templates" }
            local outcome = push.send { to = "Sports", properties = { messageParam = "Goal" } }
            return { passed.state, outcome.sent, p:inbox()[1].text, #p:inbox() }
            """)
        #expect(run.result == #"["NoTargetFound",1,"Goal",1]"#)
        #expect(run.warnings.first?.near == ["1 template registration matches; native payloads do not reach templates, properties do"])
    }

    @Test func `a payload per platform is sent unchanged, with its headers`() async throws {
        let text = try await result(
            of: """
                local s = login "alice"
                phone(s, "a-1", "apns")
                push.send { to = "username:alice", payload = { apns = { aps = { alert = "Raw" }, k = 7 } },
                  headers = { apns = { ["apns-priority"] = "5" } }, collapse_id = "c-1", expires_in = "1h" }
                local x = push.wire "apns"[1]
                return { x.json.k, x.headers["apns-priority"], x.headers["apns-collapse-id"], x.headers["apns-expiration"] }
                """)
        #expect(text == #"[7,"5","c-1","1767607200"]"#)
    }

    @Test func `a phone can be addressed directly, without a registration`() async throws {
        let run = try await rehearse(
            """
            local p = push.device { name = "bare" }
            local outcome = push.send { device = p, alert = "Direct" }
            return { outcome.sent, p:inbox()[1].text }
            """)
        #expect(run.result == #"[1,"Direct"]"#)
    }

    @Test func `push.everyone addresses every device`() async throws {
        let text = try await result(
            of: """
                phone(login "alice", "a-1") phone(login "bob", "b-1")
                return { push.send { to = push.everyone, alert = "All" }.sent, tostring(push.everyone) }
                """)
        #expect(text == #"[2,"push.everyone"]"#)
    }

    @Test func `a send without recipients is a warning with near matches, never a success`() async throws {
        let run = try await rehearse(
            """
            phone(login "alice", "a-1", "apns", { "Sports" })
            local outcome = push.send { to = "Sprots", alert = "Goal" }
            return { outcome.state, outcome.sent, outcome.near[1] }
            """)
        #expect(run.result == #"["NoTargetFound",0,"\"Sports\" has 1 registration"]"#)
        #expect(run.warnings.map(\.code) == ["hub.no_target"])
        #expect(run.warnings.first?.location?.line == 2)
        #expect(run.report.sends.noTargets == 1)
    }

    @Test func `the outcome of a notification can be queried later`() async throws {
        let text = try await result(
            of: """
                phone(login "alice", "a-1")
                local sent = push.send { to = "username:alice", alert = "Hello" }
                local read = push.outcome(sent.id)
                local _, err = push.try(push.outcome, "n-9999")
                return { read.id, read.state, read.counts.apns.Success, read.tags, err.code }
                """)
        #expect(text == #"["n-0001","Completed",1,"username:alice","notification.not_found"]"#)
    }

    @Test func `tags combine to expressions that select devices`() async throws {
        let text = try await result(
            of: """
                local s = login "alice"
                phone(s, "a", "apns", { "Sports" }) phone(s, "b", "apns", { "Science" })
                phone(s, "c", "apns", { "Sports", "muted" })
                local function sent(to) return push.send { to = to, alert = "x" }.sent end
                return {
                    sent(push.tag.any { "Sports", "Science" }), sent(push.tag.all { "Sports", "muted" }),
                    sent(push.tag.all { push.tag.user "alice", push.tag.none { "muted", "Science" } }),
                    push.tag.match("Sports && !muted", { "Sports" }), push.tag.match("Sports && !muted", { "Sports", "muted" }),
                    push.tag.device "f81d4fae", push.tag.explain("Sports && !muted", { "Sports" }),
                }
                """)
        #expect(text.hasPrefix(#"[3,1,1,true,false,"$InstallationId:{f81d4fae}","#), "\(text)")
        #expect(text.contains("✓ "))
    }
}
