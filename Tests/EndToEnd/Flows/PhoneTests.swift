import Bindings
import HostSupport
import Lua
import Testing

@Suite struct PhoneTests {
    @Test func `an invalid token is removed from the hub, with the reason in the device's result`() async throws {
        let run = try await rehearse(
            """
            local s = login "alice"
            local p = phone(s, "a-1", "apns") phone(s, "a-2", "apns")
            local old = p:handle()
            p:rotate_token()
            push.sleep "1s"
            local outcome = push.send { to = "username:alice", alert = "Hello" }
            local row
            for _, device in ipairs(outcome.devices) do if device.name == "a-1" then row = device end end
            local later = push.send { to = "username:alice", alert = "Again" }
            return { outcome.sent, outcome.failed, row.outcome, row.reason, row.registration_removed, old ~= p:handle(),
                #later.devices }
            """)
        #expect(run.result == #"[1,1,"ExpiredChannel","Unregistered",true,true,1]"#)
        let send = run.events.lazy.compactMap { if case .sent(let send) = $0 { send } else { nil } }.first
        #expect(send?.faults.count == 1)
        #expect(send?.faults.first?.hasPrefix("a-1  APNs  Unregistered: ") == true)
    }

    @Test(arguments: ["fcm", "gcm", "wns", "browser"])
    func `the token of an uninstalled app is removed on the other platforms too`(platform: String) async throws {
        let text = try await result(
            of: """
                local p = phone(login "alice", "a-1", "\(platform)")
                p:uninstall()
                push.sleep "1s"
                local outcome = push.send { to = "username:alice", alert = "Hello" }
                local later = push.send { to = "username:alice", alert = "Again" }
                return { outcome.sent, outcome.devices[1].registration_removed, later.state, #p:inbox() }
                """)
        #expect(text == #"[0,true,"NoTargetFound",0]"#)
    }

    @Test(
        arguments: [
            ("high", #"{"apns":1,"browser":1,"fcm":1,"gcm":1,"wns":1}"#), ("normal", #"{"apns":0,"browser":0,"fcm":0,"gcm":0,"wns":1}"#),
            ("low", #"{"apns":0,"browser":0,"fcm":0,"gcm":0,"wns":0}"#),
        ])
    func `a phone in low power mode gets urgent pushes at once and the others at full power`(priority: String, taken: String) async throws {
        let run = try await rehearse(
            """
            local s, phones = login "alice", {}
            for _, name in ipairs { "apns", "fcm", "gcm", "wns", "browser" } do phones[name] = phone(s, name, name) end
            local function count()
                local counts = {}
                for name, p in pairs(phones) do counts[name] = #p:inbox() end
                return counts
            end
            for _, p in pairs(phones) do p:low_power() end
            local sent = push.send { to = "username:alice", alert = "Hello", priority = "\(priority)" }.sent
            local first = count()
            for _, p in pairs(phones) do p:full_power() end
            return { first, count(), sent }
            """)
        #expect(run.result == #"[\#(taken),{"apns":1,"browser":1,"fcm":1,"gcm":1,"wns":1},5]"#)
    }

    @Test func `an offline iPhone gets only its last push when it reconnects`() async throws {
        let text = try await result(
            of: """
                local p = phone(login "alice", "a-1", "apns")
                p:offline()
                local first = push.send { to = "username:alice", alert = "First", expires_in = "1d" }
                push.send { to = "username:alice", alert = "Second", expires_in = "1d" }
                local before = #p:inbox()
                p:online()
                return { first.sent, before, #p:inbox(), p:inbox()[1].text }
                """)
        #expect(text == #"[1,0,1,"Second"]"#)
    }

    @Test func `a force-quit app is not woken, but alerts are shown`() async throws {
        let text = try await result(
            of: """
                local p = phone(login "alice", "a-1", "apns")
                p:force_quit()
                local wake = { apns = { aps = { ["content-available"] = 1 } } }
                push.send { to = "username:alice", payload = wake }
                push.send { to = "username:alice", alert = "Hello" }
                local lost, shown = p:inbox()[1], p:inbox()[2]
                p:launch()
                push.send { to = "username:alice", payload = wake }
                return { lost.shown, lost.reason, shown.text, p:inbox()[3].reason }
                """)
        #expect(text == #"[false,"the user closed the app","Hello","a background push shows nothing"]"#)
    }

    @Test func `an uninstalled app has no handle and no storage, and gets a new handle when reinstalled`() async throws {
        let text = try await result(
            of: """
                local p = push.device { name = "a-1" }
                local old = p:handle()
                p:storage().categories = "Sports"
                p:uninstall()
                local _, err = push.try(p.handle, p)
                local kept = p:storage().categories
                p:reinstall()
                return { err.code, kept == nil, p:handle() ~= old, p:storage().categories == nil }
                """)
        #expect(text == #"["device.uninstalled",true,true,true]"#)
    }

    @Test func `app code runs for a push that wakes the app, and can show a notification`() async throws {
        let run = try await rehearse(
            """
            local p = phone(login "alice", "a-1", "apns")
            p:on_push(function(item)
              push.sleep "2s"
              p:show { title = "Secure", body = "message " .. item.payload.secureId }
            end)
            for _, id in ipairs { "s-1", "s-2" } do
              push.send { to = "username:alice", payload = { apns = { aps = { ["content-available"] = 1 }, secureId = id } } }
            end
            local one = p:wait_for { contains = "message s-1", within = "1m" }
            local two = p:wait_for { contains = "message s-2", within = "1m" }
            return { one.title, one.source, two.body, push.clock.now() - 1767603600, p:wait_for { background = true }.shown }
            """)
        #expect(run.result == #"["Secure","local","message s-2",4,false]"#)
        #expect(run.shown == ["a-1: Secure\nmessage s-1", "a-1: Secure\nmessage s-2"])
    }

    @Test func `an error in app code fails the run at its line`() async throws {
        let error = try await failure(
            of: """
                local p = push.device { name = "a-1" }
                p:on_push(function()
                  error "boom"
                end)
                push.send { device = p, payload = { apns = { aps = { ["content-available"] = 1 } } } }
                push.sleep "1s"
                """)
        #expect(error.message == "boom")
        #expect(error.location?.line == 3)
    }

    @Test func `waiting ends at its limit in virtual time and returns nil if nothing comes`() async throws {
        let text = try await result(
            of: """
                local p = push.device { name = "a-1" }
                local begin = push.clock.now()
                local none = p:wait_for { alert = "never", within = "90s" }
                local waited = push.clock.now() - begin
                local later = push.spawn(function() push.sleep "1h" push.send { device = p, alert = "late" } end)
                local default = p:wait_for { alert = "late" }
                local found = p:wait_for { alert = "late", within = "2h" }
                return { none == nil, waited, default == nil, found.text, push.clock.now() - begin }
                """)
        #expect(text == #"[true,90,true,"late",3690]"#)
    }

    @Test func `waiting returns at once if the item is already in the inbox`() async throws {
        let text = try await result(
            of: """
                local p = push.device { name = "a-1" }
                push.send { device = p, alert = "Hello" }
                local begin = push.clock.now()
                return { p:wait_for().text, p:wait_for { contains = "ell" }.text, push.clock.now() - begin }
                """)
        #expect(text == #"["Hello","Hello",0]"#)
    }

    @Test func `an app's storage is a table of strings`() async throws {
        let text = try await result(
            of: """
                local p = push.device { name = "a-1" }
                local storage = p:storage()
                storage.b, storage.a, storage.n = "2", "1", 7
                storage.b = nil
                local names = {}
                for name, value in pairs(storage) do names[#names + 1] = name .. "=" .. value end
                p:storage_write("c", "3")
                return { names, storage.zzz == nil, p:storage_read().c }
                """)
        #expect(text == #"[["a=1","n=7"],true,"3"]"#)
    }

    @Test func `names of phones are unique`() async throws {
        let error = try await failure(of: "push.device { name = 'a-1' } push.device { name = 'a-1', platform = 'browser' }")
        #expect(error.code == "device.exists")
    }

    @Test func `an unknown field or method of a phone is rejected with the nearest name`() async throws {
        let error = try await failure(of: "local p = push.device { name = 'a' }\nreturn p:inbx()")
        #expect(error.code == "script.unknown_name")
        #expect(error.hint == "did you mean 'inbox'?")
        #expect(error.location?.line == 2)
    }
}
