import Bindings
import HostSupport
import Lua
import Testing

@Suite struct SecurePushTests {
    @Test func `a secure payload appears in no wire, log, report or trace`() async throws {
        let run = try await rehearse(
            """
            local bank, alice = login "bank", login "alice"
            local p = phone(alice, "alice-1", "apns")
            local receipt = bank:send_secure { to = push.tag.user "alice", payload = { code = "TOPSECRET-4711" } }
            push.try(bank.fetch_secure_payload, bank, receipt.id)
            assert(alice:fetch_secure_payload(receipt.id).code == "TOPSECRET-4711")
            assert(p:inbox()[1].secure_id == receipt.id)
            bank:revoke_secure_payload(receipt.id)
            push.try(alice.fetch_secure_payload, alice, receipt.id)
            error(receipt)
            """)
        #expect(run.error != nil)
        #expect(run.everything.contains("secureId"))
        #expect(!run.everything.contains("TOPSECRET"))
        #expect(!run.everything.contains("4711"))
    }

    @Test(
        arguments: [
            ("bank:send_secure { payload = {} }", "args.missing"), ("bank:send_secure { to = 'alice' }", "args.missing"),
            ("bank:send_secure { to = '', payload = {} }", "args.empty"),
            ("bank:send_secure { to = 'alice', payload = { print } }", "secure.payload"),
            ("bank:send_secure { to = 'alice', payload = {}, expires_in = '31d' }", "secure.lifetime"),
            ("bank:send_secure { to = 'alice', payload = {}, max_reads = 0 }", "secure.maximum_reads"),
            ("bank:send_secure { to = 'alice', payload = ('x'):rep(70000) }", "secure.too_large"),
            ("bank:send_secure { to = 'alice', message = 'x' }", "args.unknown_key"),
            ("bank:fetch_secure_payload '1'", "secure.not_found"), ("push.fetch_secure_payload { session = bank }", "args.missing"),
            ("bank:logout() bank:send_secure { to = 'alice', payload = {} }", "auth.session_expired"),
        ])
    func `an invalid secure send or read is rejected with the reason`(lua: String, code: String) async throws {
        let run = try await rehearse("local bank = login 'bank'\n\(lua)")
        #expect(run.error?.code == code)
        #expect(run.error?.location?.line == 2)
    }

    @Test func `a secure send without recipients is a warning, and the payload stays available`() async throws {
        let run = try await rehearse(
            """
            local bank, alice = login "bank", login "alice"
            local receipt = bank:send_secure { to = "alice", payload = "text" }
            return { receipt.outcome.state, alice:fetch_secure_payload(receipt.id), receipt.expires }
            """)
        #expect(run.result == #"["NoTargetFound","text","2026-01-05T10:00:00.000Z"]"#)
        #expect(run.warnings.map(\.code) == ["hub.no_target"])
    }

    private static let fetching = """
        local bank, alice = login "bank", login "alice"
        local receipt = bank:send_secure { to = "alice", payload = {
          code = "hun" .. 'ter"2z', pin = 47 * 100 + 11, list = { { deep = "quiet" .. "ly9" } }, flag = "o" .. "k", lines = "oneline" .. "\\n" .. "twoline" } }
        local p = alice:fetch_secure_payload(receipt.id)

        """

    @Test(
        arguments: [
            "push.expect(p.code).to.equal '1'", "push.expect(p).to.equal {}", "push.expect(p.pin).to.equal(1)",
            "push.expect(p.flag).to.equal 'no'", "push.check(p.code == '1', 'is ' .. p.code)", "print(p.code, p.pin, p.lines)",
            "push.log.error('code ' .. p.code .. p.code)", "error(p.code)",
            "push.step('for ' .. p.code, function() end)", "push.send { to = p.list[1].deep, alert = 'x' }", "push.fail(p.list[1].deep)",
            "push.device { name = 'x', platform = p.code }", "push.schedule { after = '1h', to = p.list[1].deep, alert = 'x' }",
            "assert(p.code == '', p.code .. ' is ' .. p.pin)", "push.try(error, p.code) push.expect { p.list }.to.be_nil()",
            "push.expect(p.lines).to.match '^x'",
        ])
    func `a payload that the script has read appears in no message, log, step or warning`(lua: String) async throws {
        let run = try await rehearse(Self.fetching + lua)
        for secret in ["hunter", "2z", "4711", "quiet", "\"ok\"", "oneline", "twoline"] {
            #expect(!run.everything.contains(secret), "\(run.everything)")
        }
        #expect(run.everything.contains("***"))
    }

    @Test func `masking hides only the payload, not surrounding text or numbers that merely look like it`() async throws {
        let run = try await rehearse(Self.fetching + "print('n-47110 of 4711: ok, not a oneline', p.flag) print(p.flag)")
        #expect(run.log == ["n-47110 of ***: ok, not a oneline\tok", "***"])
    }

    @Test func `a payload read by a nested flow is masked in the outer flow too, and its return value is complete`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana"
            local receipt = s:send_secure { to = "ana", payload = "hun" .. "ter2" }
            local run = push.run("inner.lua", { id = receipt.id })
            print(run.result, #run.result)
            """,
            beside: [
                "inner.lua": """
                local push = require "push"
                local args = push.args { id = { type = "string" } }
                local s = push.login { username = "ana", password = push.secret "demo_password" }
                return s:fetch_secure_payload(args.id)
                """
            ])
        #expect(run.log == ["***\t7"])
    }
}
