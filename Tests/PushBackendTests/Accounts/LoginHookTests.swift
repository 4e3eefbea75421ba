import PushBackend
import PushModel
import Support
import Testing

@Suite struct LoginHookTests {
    private let hooks = ScriptedHooks()
    private let bench: HubBench
    private var accounts: AccountService { bench.accounts }

    init() throws { bench = try HubBench(isTutorialMode: true, hooks: hooks) }

    @Test func `a login that a hook rejects gets no session`() async throws {
        _ = try await accounts.ensureAccount(username: "Alice", password: Secret("pw"))
        hooks.onLoggingIn { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await accounts.login(username: "alice", password: Secret("pw"), from: "10.0.0.1") } == .veto)
        #expect(hooks.logins == [LoginDraft(username: "Alice", address: "10.0.0.1")])
        hooks.onLoggingIn { _ in }
        #expect(try await accounts.login(username: "alice", password: Secret("pw")).username == "Alice")
    }

    @Test func `a failed login does not call the hook, and a rejection by the hook is not a failed attempt`() async throws {
        _ = try await accounts.ensureAccount(username: "alice", password: Secret("pw"))
        hooks.onLoggingIn { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await accounts.login(username: "alice", password: Secret("no")) }?.code == "auth.failed")
        #expect(hooks.logins.isEmpty)
        for _ in 1...50 {
            let error = await refusal { try await accounts.login(username: "alice", password: Secret("pw"), from: "10.0.0.1") }
            #expect(error == .veto)
        }
    }

    @Test func `in tutorial mode the hook learns that no password was checked`() async throws {
        hooks.onLoggingIn { _ in }
        _ = try await accounts.login(username: "bob", password: Secret("bob"))
        #expect(hooks.logins == [LoginDraft(username: "bob", isUnproved: true)])
    }

    @Test func `for credentials sent with every request, the hook is called only when they are verified`() async throws {
        _ = try await accounts.ensureAccount(username: "alice", password: Secret("pw"))
        func ask() async throws -> Session {
            try await accounts.session(header: Secret("Basic x"), username: "alice", password: Secret("pw"), from: "10.0.0.1")
        }
        hooks.onLoggingIn { _ throws(PushError) in throw .veto }
        for _ in 1...2 { #expect(await refusal { try await ask() } == .veto) }
        hooks.onLoggingIn { _ in }
        for _ in 1...3 { #expect(try await ask().username == "alice") }
        #expect(hooks.logins == Array(repeating: LoginDraft(username: "alice", address: "10.0.0.1"), count: 3))
        // After five minutes the credentials are verified again.
        bench.advance(by: .seconds(301))
        _ = try await ask()
        #expect(hooks.logins.count == 4)
    }

    @Test func `for a token of an issuer, the hook is called once too`() async throws {
        func ask() async throws -> Session {
            try await accounts.session(header: Secret("Bearer x"), issuedTo: "carol", until: HubBench.startTime + .seconds(100))
        }
        hooks.onLoggingIn { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await ask() } == .veto)
        hooks.onLoggingIn { _ in }
        for _ in 1...2 { #expect(try await ask().username == "carol") }
        #expect(hooks.logins == Array(repeating: LoginDraft(username: "carol"), count: 2))
    }

    // MARK: - Secure payloads

    @Test func `a payload that a hook withholds is not read; the attempt is recorded, and the payload can be read later`() async throws {
        let (alice, bob) = (try await bench.login("alice"), try await bench.login("bob"))
        let request = SecureRequest(username: "bob", payload: ["pin": "1234"], maximumReads: 1)
        let id = try await bench.backend.sendSecure(alice, request).id
        hooks.onFetching { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await bench.backend.securePayload(bob, id: id) } == .veto)
        #expect(hooks.fetches == [SecureFetch(id: id, username: "bob")])
        #expect(try await bench.backend.secureReads(alice, id: id).map(\.result) == [.vetoed])
        hooks.onFetching { _ in }
        #expect(try await bench.backend.securePayload(bob, id: id) == ["pin": "1234"])
        // All reads are used up, so the hook is not called.
        #expect(await refusal { try await bench.backend.securePayload(bob, id: id) }?.code == "secure.exhausted")
        #expect(hooks.fetches.count == 2)
    }

    @Test func `a user other than the recipient is rejected without a hook, and the attempt is recorded`() async throws {
        let (alice, eve) = (try await bench.login("alice"), try await bench.login("eve"))
        let id = try await bench.backend.sendSecure(alice, SecureRequest(username: "bob", payload: ["pin": "1234"])).id
        hooks.onFetching { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await bench.backend.securePayload(eve, id: id) }?.code == "secure.forbidden")
        #expect(hooks.fetches.isEmpty)
        #expect(try await bench.backend.secureReads(alice, id: id).map(\.result) == [.forbidden])
    }
}
