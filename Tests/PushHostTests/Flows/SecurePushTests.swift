import Bindings
import Lua
import Testing

@Suite struct SecurePushTests {
    @Test func `a secret is in no wire, log, report or trace`() async throws {
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
    func `what cannot be sent or read says why`(lua: String, code: String) async throws {
        let run = try await rehearse("local bank = login 'bank'\n\(lua)")
        #expect(run.error?.code == code)
        #expect(run.error?.location?.line == 2)
    }

    @Test func `nobody to tell is a warning, and the payload waits`() async throws {
        let run = try await rehearse(
            """
            local bank, alice = login "bank", login "alice"
            local receipt = bank:send_secure { to = "alice", payload = "text" }
            return { receipt.outcome.state, alice:fetch_secure_payload(receipt.id), receipt.expires }
            """)
        #expect(run.result == #"["NoTargetFound","text","2026-01-05T10:00:00.000Z"]"#)
        #expect(run.warnings.map(\.code) == ["hub.no_target"])
    }
}
