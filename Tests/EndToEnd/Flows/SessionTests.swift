import Bindings
import HostSupport
import Lua
import Testing

@Suite struct SessionTests {
    @Test func `an account is created once, and a session knows its user`() async throws {
        let text = try await result(
            of: """
                local secret = push.secret "demo_password"
                local first = push.account { username = "alice", password = secret }
                local second = push.account { username = "alice", password = secret }
                local s = push.login { username = "alice", password = secret }
                local _, taken = push.try(push.account, { username = "alice", password = "other" })
                return { first, second, s.username, s.expires, tostring(s), taken.code }
                """)
        #expect(
            text
                == #"["created","exists","alice","2026-01-05T21:00:00Z","session of alice","auth.account_exists"]"#)
    }

    @Test func `a wrong password and an unknown user get the same error`() async throws {
        let text = try await result(
            of: """
                login "alice"
                local _, wrong = push.try(push.login, { username = "alice", password = "guess" })
                local _, unknown = push.try(push.login, { username = "mallory", password = "guess" })
                return { wrong.code, wrong.status, unknown.code, unknown.status, wrong.where }
                """)
        #expect(text == #"["auth.failed",401,"auth.failed",401,"flow.lua:2"]"#)
    }

    @Test func `registering adds the user's tag and returns the registration`() async throws {
        let run = try await rehearse(
            """
            local s = login "alice"
            local p = push.device { name = "a-1", platform = "apns", user = "alice", locale = "pt-PT", time_zone = "Europe/Lisbon" }
            local r = push.register { session = s, device = p, tags = { "phone" } }
            return { #r.tags, r.tags[1], r.tags[2], r.etag, r.platform, p:storage().registrationId == r.id, p.locale }
            """)
        #expect(run.result == #"[2,"phone","username:alice",1,"apns",true,"pt-PT"]"#)
    }

    @Test func `registering again updates the same registration`() async throws {
        let text = try await result(
            of: """
                local s = login "alice"
                local p = push.device { name = "a-1" }
                local a = s:register { device = p, tags = { "Sports" } }
                local b = s:register { device = p, tags = { "Science" } }
                return { a.id == b.id, b.etag, push.send { to = "Sports", alert = "x" }.state,
                    push.send { to = "Science", alert = "x" }.sent }
                """)
        #expect(text == #"[true,2,"NoTargetFound",1]"#)
    }

    @Test func `a deleted registration id gets 410, and the device registers once more with a new id`() async throws {
        let run = try await rehearse(
            """
            local s = login "alice"
            local p = push.device { name = "a-1" }
            local first = s:register { device = p, tags = { "phone" } }
            p:rotate_token()
            push.sleep "1s"
            local outcome = push.send { to = "username:alice", alert = "finds the old token dead" }
            local second = s:register { device = p, tags = { "phone" } }
            local again = push.send { to = "username:alice", alert = "Hello" }
            return { outcome.devices[1].registration_removed, first.id == second.id, second.etag, again.sent,
                p:storage().registrationId == second.id }
            """)
        #expect(run.result == "[true,false,1,1,true]")
    }

    @Test func `a closed session cannot register`() async throws {
        let text = try await result(
            of: """
                local s = login "alice"
                local p = push.device { name = "a-1" }
                s:logout()
                local _, err = push.try(function() s:register { device = p } end)
                return { err.code, err.status, push.send { to = push.everyone, alert = "x" }.state }
                """)
        #expect(text == #"["auth.session_expired",401,"NoTargetFound"]"#)
    }

    @Test func `a session expires`() async throws {
        let text = try await result(
            of: """
                local s = login "alice"
                push.clock.advance "13h"
                local _, err = push.try(function() s:register { device = push.device { name = "a" } } end)
                return err.code
                """)
        #expect(text == #""auth.session_expired""#)
    }

    @Test func `the backend notifies a user's devices on every platform`() async throws {
        let text = try await result(
            of: """
                local alice, bob = login "alice", login "bob"
                local a, b = phone(alice, "a-1", "apns"), phone(bob, "b-1", "wns")
                local own = alice:send { to = "alice", alert = "To myself" }
                local other = alice:send { to = "bob", alert = "To bob" }
                return { own.sent, other.sent, a:inbox()[1].text, b:inbox()[1].text, #a:inbox() }
                """)
        #expect(text == #"[1,1,"From alice: To myself","From alice: To bob",1]"#)
    }

    @Test func `a device cannot claim a user's tag`() async throws {
        let error = try await failure(
            of: """
                local s = login "alice"
                s:register { device = push.device { name = "a" }, tags = { "username:bob" } }
                """)
        #expect(error.code == "backend.reserved_tag")
        #expect(error.location?.line == 2)
    }
}
