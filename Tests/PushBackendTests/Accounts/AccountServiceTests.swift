import PushBackend
import PushModel
import Support
import Testing

@Suite struct AccountServiceTests {
    private let bench: HubBench
    private var accounts: AccountService { bench.accounts }
    private let password = Secret("correct horse")

    init() throws { bench = try HubBench() }

    @Test("An account is created once and then unchanged") func ensure() async throws {
        #expect(try await accounts.ensureAccount(username: "alice", password: password) == .created)
        #expect(try await accounts.ensureAccount(username: "alice", password: password) == .exists)
        let error = await refusal { try await accounts.ensureAccount(username: "alice", password: Secret("other")) }
        #expect(error?.code == "auth.account_exists")
        #expect(error?.message == "the account alice exists with another password")
        #expect(error?.status == 409)
        #expect(bench.notes(.backend) == ["account alice created"])
    }

    @Test("Names that differ only in case are one account, because they are one tag") func caseInsensitive()
        async throws
    {
        _ = try await accounts.ensureAccount(username: "alice", password: password)
        let error = await refusal { try await accounts.ensureAccount(username: "ALICE", password: Secret("mine")) }
        #expect(error?.code == "auth.account_exists")
        #expect(try await accounts.login(username: "Alice", password: password).username == "alice")
    }

    @Test("An invalid name or password is rejected") func unusable() async {
        for name in ["", "a b", "a,b", String(repeating: "a", count: 112)] {
            let error = await refusal { try await accounts.ensureAccount(username: name, password: password) }
            #expect(error?.code == "auth.username" && error?.status == 400)
        }
        let error = await refusal { try await accounts.ensureAccount(username: "bob", password: Secret("")) }
        #expect(error?.code == "auth.password")
        #expect(error?.message == "the password of bob is empty")
    }

    @Test("A wrong password and an unknown user get the same answer") func failed() async throws {
        _ = try await accounts.ensureAccount(username: "alice", password: password)
        let wrong = await refusal { try await accounts.login(username: "alice", password: Secret("guess")) }
        let unknown = await refusal { try await accounts.login(username: "nobody", password: Secret("guess")) }
        #expect(wrong?.code == "auth.failed" && wrong?.status == 401)
        #expect(wrong?.message == "wrong user name or password for \"alice\"")
        var renamed = unknown
        renamed?.message = "wrong user name or password for \"alice\""
        #expect(renamed == wrong)
        #expect(bench.notes(.backend).suffix(2) == ["login of alice rejected", "login of nobody rejected"])
        for name in ["", "a b"] {
            #expect(
                await refusal { try await accounts.login(username: name, password: Secret(name)) }?.code
                    == "auth.failed")
        }
    }

    @Test("A session is valid until it expires") func session() async throws {
        _ = try await accounts.ensureAccount(username: "alice", password: password)
        let session = try await accounts.login(username: "alice", password: password)
        #expect(session.expiration == HubBench.startTime + .seconds(3600))
        bench.advance(by: .milliseconds(3_599_999))
        #expect(try await accounts.session(for: session.token) == session)
        bench.advance(by: .milliseconds(1))
        let error = await refusal { try await accounts.session(for: session.token) }
        #expect(error?.code == "auth.session_expired")
        #expect(error?.message == "the session has expired or does not exist")
        #expect(error?.status == 401)
    }

    @Test("Logging out ends one session, and not the user's others") func logout() async throws {
        _ = try await accounts.ensureAccount(username: "alice", password: password)
        let first = try await accounts.login(username: "alice", password: password)
        let second = try await accounts.login(username: "alice", password: password)
        #expect(first.token != second.token)
        try await accounts.logout(first.token)
        #expect(await refusal { try await accounts.session(for: first.token) }?.code == "auth.session_expired")
        #expect(try await accounts.session(for: second.token) == second)
        #expect(await refusal { try await accounts.session(for: Secret("made up")) }?.code == "auth.session_expired")
    }

    @Test("Neither the password nor the token is in an event") func notes() async throws {
        _ = try await accounts.ensureAccount(username: "alice", password: password)
        let session = try await accounts.login(username: "alice", password: password)
        #expect(
            !bench.events.contains { $0.text.contains(password.reveal()) || $0.text.contains(session.token.reveal()) })
    }

    // MARK: - Tutorial mode

    @Test("A user name is not a valid password unless tutorial mode is on") func tutorialModeIsOff() async {
        let error = await refusal { try await accounts.login(username: "alice", password: Secret("alice")) }
        #expect(error?.code == "auth.failed")
        #expect(bench.events.allSatisfy { !$0.text.contains("tutorial") })
    }

    @Test("Tutorial mode accepts a user name as the password, and reports it") func tutorialMode() async throws {
        let bench = try HubBench(isTutorialMode: true)
        #expect(
            bench.notes(.backend) == [
                "tutorial mode is on: a user name without an account is accepted as its own password; not for real users"
            ])
        #expect(try await bench.accounts.login(username: "alice", password: Secret("alice")).username == "alice")
        #expect(bench.notes(.backend).last == "alice logged in by tutorial mode, with the user name as password")
        for (name, text) in [("alice", "Alice"), ("", ""), ("bob", "alice")] {
            let error = await refusal { try await bench.accounts.login(username: name, password: Secret(text)) }
            #expect(error?.code == "auth.failed")
        }
        let error = await refusal { try await bench.accounts.login(username: "a b", password: Secret("a b")) }
        #expect(error?.code == "auth.username")
    }

    @Test("An account with a password needs it in tutorial mode too") func tutorialAccount() async throws {
        let bench = try HubBench(isTutorialMode: true)
        _ = try await bench.accounts.ensureAccount(username: "alice", password: password)
        let error = await refusal { try await bench.accounts.login(username: "alice", password: Secret("alice")) }
        #expect(error?.code == "auth.failed")
        #expect(try await bench.accounts.login(username: "alice", password: password).username == "alice")
        #expect(bench.notes(.backend).last == "alice logged in")
    }
}

@Suite struct PasswordHashTests {
    @Test("A hash includes its salt and its cost, and verifies its password") func matches() throws {
        let hash = try PasswordHash(of: Secret("pass"), salt: [1, 2, 3], cost: .rehearsal)
        #expect(hash.cost == 16 && hash.salt == [1, 2, 3])
        #expect(try hash.matches(Secret("pass")))
        #expect(try !hash.matches(Secret("Pass")))
        #expect(try !hash.matches(Secret("")))
        #expect(try hash != PasswordHash(of: Secret("pass"), salt: [1, 2, 4], cost: .rehearsal))
    }

    @Test("The hash of a served account has the cost 2^17") func served() throws {
        #expect(ScryptCost.served.n == 131_072 && ScryptCost.rehearsal.n == 16)
        let hash = try PasswordHash(of: Secret("pass"), salt: [7], cost: .served)
        #expect(hash.cost == 131_072)
        #expect(try hash != PasswordHash(of: Secret("pass"), salt: [7], cost: .rehearsal))
    }

    @Test("A smaller cost is rejected for served accounts", arguments: [0, 16, 65_536, 131_073, 200_000, -131_072])
    func refused(n: Int) async {
        let error = await refusal { try ScryptCost(served: n) }
        #expect(error?.code == "auth.cost")
        #expect(error?.message == "invalid scrypt cost N = \(n) for served accounts")
    }

    @Test("A larger cost is accepted", arguments: [131_072, 262_144]) func taken(n: Int) throws {
        #expect(try ScryptCost(served: n).n == n)
    }
}
