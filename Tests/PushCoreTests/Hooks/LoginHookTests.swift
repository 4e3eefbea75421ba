import PushCore
import Support
import Testing

@Suite struct LoginHookTests {
    private let hooks = ScriptedHooks()
    private let bench: HubBench
    private var accounts: AccountService { bench.accounts }

    init() throws { bench = try HubBench(isTutorialMode: true, hooks: hooks) }

    @Test func `whom a hook does not let in gets no session`() async throws {
        _ = try await accounts.ensureAccount(username: "Alice", password: Secret("pw"))
        hooks.onLoggingIn { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await accounts.login(username: "alice", password: Secret("pw"), from: "10.0.0.1") } == .veto)
        #expect(hooks.logins == [LoginDraft(username: "Alice", address: "10.0.0.1")])
        hooks.onLoggingIn { _ in }
        #expect(try await accounts.login(username: "alice", password: Secret("pw")).username == "Alice")
    }

    @Test func `who has not proved anything is refused without a hook, and a refusal of a hook is no failed attempt`() async throws {
        _ = try await accounts.ensureAccount(username: "alice", password: Secret("pw"))
        hooks.onLoggingIn { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await accounts.login(username: "alice", password: Secret("no")) }?.code == "auth.failed")
        #expect(hooks.logins.isEmpty)
        for _ in 1...50 {
            let error = await refusal { try await accounts.login(username: "alice", password: Secret("pw"), from: "10.0.0.1") }
            #expect(error == .veto)
        }
    }

    @Test func `tutorial mode is said to have asked for no password`() async throws {
        hooks.onLoggingIn { _ in }
        _ = try await accounts.login(username: "bob", password: Secret("bob"))
        #expect(hooks.logins == [LoginDraft(username: "bob", isUnproved: true)])
    }

    @Test func `credentials that come with every request are asked about when they are proved, and not again`() async throws {
        _ = try await accounts.ensureAccount(username: "alice", password: Secret("pw"))
        func ask() async throws -> Session {
            try await accounts.session(header: Secret("Basic x"), username: "alice", password: Secret("pw"), from: "10.0.0.1")
        }
        hooks.onLoggingIn { _ throws(PushError) in throw .veto }
        for _ in 1...2 { #expect(await refusal { try await ask() } == .veto) }
        hooks.onLoggingIn { _ in }
        for _ in 1...3 { #expect(try await ask().username == "alice") }
        #expect(hooks.logins == Array(repeating: LoginDraft(username: "alice", address: "10.0.0.1"), count: 3))
        // What was proved five minutes ago is proved anew.
        bench.advance(by: .seconds(301))
        _ = try await ask()
        #expect(hooks.logins.count == 4)
    }

    @Test func `a token of an issuer is asked about once too`() async throws {
        func ask() async throws -> Session {
            try await accounts.session(header: Secret("Bearer x"), issuedTo: "carol", until: HubBench.dawn + .seconds(100))
        }
        hooks.onLoggingIn { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await ask() } == .veto)
        hooks.onLoggingIn { _ in }
        for _ in 1...2 { #expect(try await ask().username == "carol") }
        #expect(hooks.logins == Array(repeating: LoginDraft(username: "carol"), count: 2))
    }

    // MARK: - Secure payloads

    @Test func `what a hook holds back is not read, which is written down, and can be read later`() async throws {
        let (alice, bob) = (try await bench.login("alice"), try await bench.login("bob"))
        let request = SecureRequest(username: "bob", payload: ["pin": "1234"], maximumReads: 1)
        let id = try await bench.backend.sendSecure(alice, request).id
        hooks.onFetching { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await bench.backend.securePayload(bob, id: id) } == .veto)
        #expect(hooks.fetches == [SecureFetch(id: id, username: "bob")])
        #expect(try await bench.backend.secureReads(alice, id: id).map(\.result) == [.vetoed])
        hooks.onFetching { _ in }
        #expect(try await bench.backend.securePayload(bob, id: id) == ["pin": "1234"])
        // It has been read as often as it may be: that is nothing to ask about.
        #expect(await refusal { try await bench.backend.securePayload(bob, id: id) }?.code == "secure.exhausted")
        #expect(hooks.fetches.count == 2)
    }

    @Test func `who is not meant is refused without a hook, and that is written down`() async throws {
        let (alice, eve) = (try await bench.login("alice"), try await bench.login("eve"))
        let id = try await bench.backend.sendSecure(alice, SecureRequest(username: "bob", payload: ["pin": "1234"])).id
        hooks.onFetching { _ throws(PushError) in throw .veto }
        #expect(await refusal { try await bench.backend.securePayload(eve, id: id) }?.code == "secure.forbidden")
        #expect(hooks.fetches.isEmpty)
        #expect(try await bench.backend.secureReads(alice, id: id).map(\.result) == [.forbidden])
    }
}
