import Storage
import Support
import Synchronization
import Testing

@testable import PushBackend
@testable import PushModel

/// Accounts under many simultaneous logins and under password guessing.
@Suite struct AccountLoadTests {
    /// Runs in place of the hashing: counts the hashes, and can block them.
    private actor Workshop {
        private(set) var count = 0
        private(set) var atOnce = 0
        private(set) var most = 0
        /// Requests that were rejected because a queue was full.
        private(set) var turnedAway = 0
        private var isOpen: Bool
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(isOpen: Bool = true) { self.isOpen = isOpen }

        func enter() async {
            (count, atOnce) = (count + 1, atOnce + 1)
            most = max(most, atOnce)
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            atOnce -= 1
        }

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }

        func close() { isOpen = false }

        func turnAway() { turnedAway += 1 }
    }

    private let clock = VirtualClock(now: HubBench.startTime)
    private let store = MemoryAccountStore()
    private let workshop = Workshop()
    private let password = Secret("correct horse")

    private func service(isTutorialMode: Bool = false) throws -> AccountService {
        try AccountService(
            environment: HubEnvironment(clock: clock, random: SeededRandom(seed: 1), start: { work in Task { await work() } }),
            store: store, cost: .rehearsal, isTutorialMode: isTutorialMode,
            hashing: { [workshop] work throws(PushError) in
                await workshop.enter()
                return try work()
            })
    }

    /// A session from a Basic header, whose text identifies the credentials.
    private func session(
        _ accounts: AccountService, _ name: String = "alice", _ password: Secret? = nil, from address: String = "10.0.0.1"
    ) async throws -> Session {
        let password = password ?? self.password
        return try await accounts.session(
            header: Secret("Basic \(name):\(password.reveal())"), username: name, password: password, from: address)
    }

    private func codes(_ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for number in 0..<count {
                group.addTask { [workshop] in
                    let code = await refusal { try await work(number) }?.code ?? "fine"
                    if code == "backend.busy" { await workshop.turnAway() }
                    return code
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// Runs 30 at a time. More at once would overflow the queue.
    private func inPortions(_ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async -> [String: Int] {
        var ended: [String: Int] = [:]
        for first in stride(from: 0, to: count, by: 30) {
            ended.merge(await codes(min(30, count - first)) { try await work(first + $0) }, uniquingKeysWith: +)
        }
        return ended
    }

    // MARK: - Hashing

    @Test func `At most two passwords are hashed at once, and the queue of waiting logins is limited`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        await workshop.close()
        async let ended = codes(40) { [password] _ in _ = try await accounts.login(username: "alice", password: password) }
        // Six are rejected because the queue is full, while the others wait.
        try await until { await workshop.turnedAway >= 6 }
        try await until { await workshop.atOnce >= 2 }
        #expect(await workshop.atOnce == 2)
        await workshop.open()
        #expect(await ended == ["fine": 34, "backend.busy": 6])
        #expect(await workshop.most == 2)
    }

    @Test func `A login that finds the queue full is rejected with a time to retry`() async throws {
        let accounts = try service()
        await workshop.close()
        async let ended = codes(35) { [password] number in try await accounts.add(username: "user\(number)", password: password) }
        try await until { await workshop.turnedAway >= 1 }
        let busy = await refusal { try await accounts.login(username: "alice", password: password) }
        #expect(busy?.code == "backend.busy" && busy?.status == 503 && busy?.details["retryAfter"] == 5)
        await workshop.open()
        #expect(await ended == ["fine": 34, "backend.busy": 1])
    }

    @Test func `An unknown user costs one hash, as a wrong password does`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        var before = await workshop.count
        for name in ["alice", "nobody", "no name"] {
            let error = await refusal { try await session(accounts, name, Secret("guess")) }
            #expect(error?.code == "auth.failed")
            #expect(await workshop.count == before + 1)
            before += 1
        }
    }

    @Test func `With a weaker hash, any password costs as many hashes as for an unknown user`() async throws {
        let accounts = try service()
        let cheap = PasswordHash(cost: 4, salt: [1], digest: try PasswordHash.derive(password, salt: [1], cost: 4))
        let account = Account(user: try Tag.username("alice"), username: "alice", hash: cheap)
        #expect(await store.insert(account))
        #expect(try await accounts.countWeakHashes() == 1)
        for (guess, code) in [(Secret("guess"), "auth.failed"), (password, nil)] as [(Secret, String?)] {
            let before = await workshop.count
            #expect(await refusal { try await accounts.login(username: "alice", password: guess) }?.code == code)
            // Its own hash and that of an unknown user, in one slot.
            #expect(await workshop.count == before + 2)
        }
        try await accounts.changePassword(of: "alice", to: password)
        #expect(try await accounts.countWeakHashes() == 0)
        let before = await workshop.count
        _ = try await accounts.login(username: "alice", password: password)
        #expect(await workshop.count == before + 1)
    }

    // MARK: - Attempts

    @Test func `After ten failures a minute at one account from one address, nothing more is hashed`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        let before = await workshop.count
        let ended = await codes(30) { number in
            _ = try await accounts.login(username: "alice", password: Secret("guess \(number)"), from: "10.0.0.1")
        }
        #expect(ended == ["auth.failed": 10, "auth.throttled": 20])
        #expect(await workshop.count == before + 10)
        let error = await refusal { try await accounts.login(username: "ALICE", password: password, from: "10.0.0.1") }
        #expect(error?.code == "auth.throttled" && error?.status == 429 && error?.details["retryAfter"] == 6)
        _ = try await session(accounts, from: "10.0.0.2")
        clock.advance(to: clock.now + .seconds(6))
        _ = try await accounts.login(username: "alice", password: password, from: "10.0.0.1")
    }

    @Test func `Many logins at once with the right password wait, and all succeed`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        let before = await workshop.count
        await workshop.close()
        async let ended = codes(30) { [password] _ in
            _ = try await accounts.login(username: "alice", password: password, from: "10.0.0.1")
        }
        try await until { await workshop.atOnce >= 2 }
        await workshop.open()
        #expect(await ended == ["fine": 30])
        #expect(await workshop.count == before + 30)
    }

    @Test func `With one failure left, logins are tried one at a time, and the first failure rejects those that wait`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        for number in 0..<9 { _ = await refusal { try await session(accounts, "alice", Secret("guess \(number)")) } }
        let before = await workshop.count
        let right = await codes(5) { [password] _ in
            _ = try await accounts.login(username: "alice", password: password, from: "10.0.0.1")
        }
        #expect(right == ["fine": 5])
        #expect(await workshop.count == before + 5)
        #expect(await workshop.most == 1)
        await workshop.close()
        async let ended = codes(20) { number in _ = try await session(accounts, "alice", Secret("wrong \(number)")) }
        try await until { await workshop.atOnce >= 1 }
        // Logins from another address do not wait.
        async let elsewhere = refusal { [password] in
            try await accounts.login(username: "bob", password: password, from: "10.0.0.2")
        }
        try await until { await workshop.atOnce >= 2 }
        await workshop.open()
        #expect(await ended == ["auth.failed": 1, "auth.throttled": 19])
        #expect(await elsewhere?.code == "auth.failed")
        #expect(await workshop.count == before + 7)
    }

    @Test func `The queue of logins that wait for others is limited too`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        await workshop.close()
        async let ended = codes(60) { number in _ = try await session(accounts, "alice", Secret("guess \(number)")) }
        // Ten are tried and 32 wait before the queue is full. As many as may fail are rejected as busy.
        try await until { await workshop.turnedAway >= 10 }
        await workshop.open()
        #expect(await ended == ["auth.failed": 10, "auth.throttled": 40, "backend.busy": 10])
    }

    @Test func `Failures from another address do not delay verified credentials, which do not confirm guesses either`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        for _ in 0..<30 { _ = try await accounts.login(username: "alice", password: password, from: "10.0.0.1") }
        let first = try await session(accounts)
        _ = await codes(30) { number in _ = try await session(accounts, "alice", Secret("guess \(number)"), from: "10.0.0.2") }
        #expect(try await session(accounts) == first)
        #expect(await refusal { try await session(accounts, from: "10.0.0.2") }?.code == "auth.throttled")
        _ = await codes(30) { number in _ = try await session(accounts, "alice", Secret("guess \(number)")) }
        #expect(await refusal { try await session(accounts) }?.code == "auth.throttled")
    }

    @Test func `Failures at other accounts of the same address do not delay verified credentials, nor help guessing`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        let first = try await session(accounts)
        let others = await inPortions(105) { number in _ = try await session(accounts, "nobody\(number)", Secret("guess")) }
        #expect(others == ["auth.failed": 100, "auth.throttled": 5])
        #expect(try await session(accounts) == first)
        let before = await workshop.count
        for number in 0..<10 {
            let error = await refusal { try await session(accounts, "alice", Secret("guess \(number)")) }
            #expect(error?.code == "auth.throttled")
        }
        // As many guesses as from the other address, but none was hashed.
        #expect(await refusal { try await session(accounts) }?.code == "auth.throttled")
        #expect(await workshop.count == before)
        clock.advance(to: clock.now + .seconds(6))
        #expect(try await session(accounts) == first)
    }

    @Test func `A login rejected because the queue is full counts as a guess at verified credentials`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        let first = try await session(accounts)
        await workshop.close()
        // So many others log in that the queue is full.
        async let others = codes(60) { number in _ = try await session(accounts, "u\(number)", Secret("guess"), from: "10.9.0.\(number)") }
        try await until { await workshop.turnedAway >= 26 }
        for number in 0..<10 {
            #expect(await refusal { try await session(accounts, "alice", Secret("guess \(number)")) }?.code == "backend.busy")
        }
        #expect(await refusal { try await session(accounts) }?.code == "auth.throttled")
        clock.advance(to: clock.now + .seconds(6))
        #expect(try await session(accounts) == first)
        await workshop.open()
        _ = await others
    }

    @Test func `Trying many names does not make the limiter forget an exhausted account`() throws {
        var attempts = LoginAttempts()
        let now = Timestamp(milliseconds: 0)
        let alice = LoginAttempts.Attempt(user: try Tag.username("alice"), address: "10.0.0.1")
        func fail(_ attempt: LoginAttempts.Attempt) {
            if attempts.begin(attempt, now: now) == .started { attempts.end(attempt, isFailure: true, now: now) }
        }
        for _ in 0..<10 { fail(alice) }
        #expect(attempts.refusal(of: alice, now: now) == 6)
        for number in 0..<60_000 { fail(LoginAttempts.Attempt(user: try Tag.username("u\(number)"), address: "10.\(number / 90).0.1")) }
        #expect(attempts.refusal(of: alice, now: now) == 6)
    }

    @Test func `A hundred failures a minute are allowed from one address, and at one account from many addresses`() async throws {
        let accounts = try service()
        let fromOne = await inPortions(150) { number in _ = try await session(accounts, "user\(number)", Secret("guess")) }
        #expect(fromOne == ["auth.failed": 100, "auth.throttled": 50])
        let atOne = await inPortions(150) { number in _ = try await session(accounts, "alice", Secret("guess"), from: "10.1.0.\(number)") }
        #expect(atOne == ["auth.failed": 100, "auth.throttled": 50])
    }

    // MARK: - Verified credentials

    @Test func `Verified credentials are not hashed again for five minutes, for any number of requests`() async throws {
        let accounts = try service()
        try await accounts.add(username: "Alice", password: password)
        let before = await workshop.count
        let ended = await codes(20) { _ in _ = try await session(accounts) }
        #expect(ended == ["fine": 20])
        let kept = try await session(accounts)
        #expect(kept.username == "Alice")
        #expect(await workshop.count == before + 1)
        clock.advance(to: clock.now + .seconds(300))
        #expect(try await accounts.session(for: kept.token) == kept)
        #expect(try await session(accounts) != kept)
        #expect(await workshop.count == before + 2)
        clock.advance(to: clock.now + .seconds(300))
        #expect(await refusal { try await accounts.session(for: kept.token) }?.code == "auth.session_expired")
    }

    enum Change: String, CaseIterable {
        case password, removal, elsewhere

        func happen(to accounts: AccountService, in store: MemoryAccountStore) async throws {
            switch self {
            case .password: try await accounts.changePassword(of: "ALICE", to: Secret("new"))
            case .removal: try await accounts.remove(username: "alice")
            case .elsewhere:
                var account = try #require(await store.account(try Tag.username("alice")))
                account.hash = PasswordHash(cost: 16, salt: [1], digest: [2])
                #expect(await store.update(account))
            }
        }
    }

    @Test(arguments: Change.allCases)
    func `Any change of an account ends its sessions and its verified credentials`(_ change: Change) async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        try await accounts.add(username: "bob", password: password)
        let (proved, opened) = (try await session(accounts), try await accounts.login(username: "alice", password: password))
        let other = try await session(accounts, "bob")
        try await change.happen(to: accounts, in: store)
        for old in [proved, opened] {
            #expect(await refusal { try await accounts.session(for: old.token) }?.code == "auth.session_expired")
        }
        #expect(await refusal { try await session(accounts) }?.code == "auth.failed")
        #expect(try await session(accounts, "bob") == other)
    }

    @Test func `A password that changes during its verification does not open a session`() async throws {
        let accounts = try service()
        try await accounts.add(username: "alice", password: password)
        await workshop.close()
        async let login = refusal { [password] in try await accounts.login(username: "alice", password: password) }
        async let header = refusal { try await accounts.session(for: try await session(accounts).token) }
        try await until { await workshop.atOnce >= 2 }
        var account = try #require(await store.account(try Tag.username("alice")))
        account.hash = PasswordHash(cost: 16, salt: [1], digest: [2])
        #expect(await store.update(account))
        await workshop.open()
        #expect(await login?.code == "auth.failed")
        #expect(await header?.code == "auth.session_expired")
    }

    @Test func `A session of tutorial mode ends when the name gets an account`() async throws {
        let accounts = try service(isTutorialMode: true)
        let proved = try await session(accounts, "alice", Secret("alice"))
        let opened = try await accounts.login(username: "Alice", password: Secret("Alice"))
        try await accounts.add(username: "alice", password: password)
        for old in [proved, opened] {
            #expect(await refusal { try await accounts.session(for: old.token) }?.code == "auth.session_expired")
        }
        #expect(await refusal { try await session(accounts, "alice", Secret("alice")) }?.code == "auth.failed")
    }

    @Test func `Sessions of tutorial mode end with it, unless the name has an account`() async throws {
        let tutorial = try service(isTutorialMode: true)
        try await tutorial.add(username: "bob", password: password)
        let alice = try await tutorial.login(username: "alice", password: Secret("alice"))
        let bob = try await tutorial.login(username: "bob", password: password)
        #expect(try await tutorial.session(for: alice.token) == alice)
        // The next start, with the stored sessions.
        let usual = try service()
        #expect(await refusal { try await usual.session(for: alice.token) }?.code == "auth.session_expired")
        #expect(try await usual.session(for: bob.token) == bob)
        #expect(await refusal { try await usual.login(username: "alice", password: Secret("alice")) }?.code == "auth.failed")
        clock.advance(to: bob.expiration)
        #expect(await refusal { try await usual.session(for: bob.token) }?.code == "auth.session_expired")
    }

    @Test func `A user of an issuer needs no account, and the session ends with the token`() async throws {
        let accounts = try service()
        let end = clock.now + .seconds(30)
        let session = try await accounts.session(header: Secret("Bearer a.b.c"), issuedTo: "Zoë", until: end)
        #expect(session.username == "Zoë" && session.expiration == end)
        #expect(try await accounts.session(for: session.token) == session)
        #expect(try await accounts.session(header: Secret("Bearer a.b.c"), issuedTo: "Zoë", until: end) == session)
        clock.advance(to: end)
        #expect(await refusal { try await accounts.session(for: session.token) }?.code == "auth.session_expired")
        let error = await refusal { try await accounts.session(header: Secret("x"), issuedTo: "a b", until: end) }
        #expect(error?.code == "auth.username")
    }

    // MARK: - Operators

    @Test func `An account is added once, listed by name, and found in any letter case`() async throws {
        let accounts = try service()
        for name in ["bob", "Alice", "carol"] { try await accounts.add(username: name, password: password) }
        #expect(try await accounts.usernames(after: nil, limit: 2) == ["Alice", "bob"])
        #expect(try await accounts.usernames(after: "BOB", limit: 2) == ["carol"])
        let taken = await refusal { try await accounts.add(username: "ALICE", password: password) }
        #expect(taken?.code == "auth.account_exists" && taken?.status == 409)
        #expect(await refusal { try await accounts.add(username: "dan", password: Secret("")) }?.code == "auth.password")
        let unknown = await refusal { try await accounts.changePassword(of: "alic", to: password) }
        #expect(unknown?.code == "auth.unknown_user" && unknown?.status == 404 && unknown?.hint == "did you mean \"Alice\"?")
        #expect(await refusal { try await accounts.remove(username: "a b") }?.code == "auth.unknown_user")
        let late = await refusal {
            try await accounts.add(username: "eve", password: password) { () throws(PushError) in throw PushError("sas.signature", "late") }
        }
        #expect(late?.code == "sas.signature")
        #expect(try await accounts.usernames(after: nil, limit: 9) == ["Alice", "bob", "carol"])
    }
}
