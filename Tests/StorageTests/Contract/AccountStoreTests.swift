import PushModel
import Storage
import Support
import Testing

@Suite struct AccountStoreTests {
    private func account(_ name: String, cost: Int = 16) throws -> Account {
        Account(
            user: try Tag.username(name), username: name, hash: PasswordHash(cost: cost, salt: [0, 255], digest: [1, 2, 3]))
    }

    @Test(arguments: Engine.allCases)
    func `A user has one account, whatever the case and spelling of the name`(engine: Engine) async throws {
        try await engine.run { storage in
            let accounts = storage.accounts
            let first = try account("Ren\u{E9}")
            #expect(try await accounts.insert(first))
            #expect(try await !accounts.insert(try account("REN\u{C9}", cost: 32)))
            #expect(try await !accounts.insert(try account("rene\u{301}")))
            let found = try #require(try await accounts.account(try Tag.username("RENE\u{301}")))
            #expect(found == first && found.user.text == first.user.text)
            #expect(try await accounts.account(try Tag.username("rene")) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Accounts are listed in the order of their tags, page by page`(engine: Engine) async throws {
        try await engine.run { storage in
            let accounts = storage.accounts
            let names = ["ann", "Bob", "carol", "Zoë", "ß", "émile"]
            for name in names.reversed() { #expect(try await accounts.insert(try account(name))) }
            let all = try await accounts.accounts(after: nil, limit: 99).map(\.username)
            #expect(all == names.sorted { $0.lowercased() < $1.lowercased() })
            var paged: [String] = []
            var last: PushModel.Tag?
            while true {
                let page = try await accounts.accounts(after: last, limit: 2)
                guard let end = page.last else { break }
                paged += page.map(\.username)
                last = end.user
            }
            #expect(paged == all)
            #expect(try await accounts.accounts(after: try Tag.username("BOB"), limit: 1).map(\.username) == ["carol"])
            #expect(try await accounts.accounts(after: try Tag.username("b"), limit: 1).map(\.username) == ["Bob"])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Accounts with a weaker hash are counted`(engine: Engine) async throws {
        try await engine.run { storage in
            let accounts = storage.accounts
            for (name, cost) in [("ann", 8), ("bob", 16), ("carol", 1 << 17), ("dan", 1 << 18)] {
                let account = try account(name, cost: cost)
                #expect(try await accounts.insert(account))
            }
            #expect(try await accounts.count(cheaperThan: .rehearsal) == 1)
            #expect(try await accounts.count(cheaperThan: .served) == 2)
            #expect(try await accounts.remove(try Tag.username("ann")))
            #expect(try await accounts.update(try account("bob", cost: 1 << 17)))
            #expect(try await accounts.count(cheaperThan: .served) == 0)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A session is found by its digest until it is closed`(engine: Engine) async throws {
        try await engine.run { storage in
            let accounts = storage.accounts
            let session = StoredSession(digest: Array(0..<32), username: Samples.oddText, expiration: HubBench.startTime)
            #expect(try await accounts.open(session, of: try Tag.username("ann"), with: nil))
            #expect(try await accounts.session(session.digest) == session)
            #expect(try await accounts.session(session.digest.reversed()) == nil)
            try await accounts.close(session.digest)
            try await accounts.close(session.digest)
            #expect(try await accounts.session(session.digest) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Expired sessions are deleted in portions`(engine: Engine) async throws {
        try await engine.run { storage in
            let accounts = storage.accounts
            let ann = try Tag.username("ann")
            for number in 0..<5 as Range<UInt8> {
                let session = StoredSession(
                    digest: [number], username: "ann", expiration: HubBench.startTime + .seconds(Int64(number)))
                #expect(try await accounts.open(session, of: ann, with: nil))
            }
            let now = HubBench.startTime + .seconds(3)
            #expect(try await accounts.session([0]) != nil)
            #expect(try await accounts.removeExpired(now: now, limit: 3) == 3)
            #expect(try await accounts.removeExpired(now: now, limit: 3) == 1)
            #expect(try await accounts.removeExpired(now: now, limit: 3) == 0)
            #expect(try await accounts.session([3]) == nil)
            #expect(try await accounts.session([4]) != nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A session is opened only with the current hash of the account`(engine: Engine) async throws {
        try await engine.run { storage in
            let (accounts, session) = (storage.accounts, StoredSession(digest: [1], username: "ann", expiration: HubBench.startTime))
            let ann = try account("Ann")
            #expect(try await !accounts.open(session, of: ann.user, with: ann.hash))
            #expect(try await accounts.insert(ann))
            #expect(try await !accounts.open(session, of: ann.user, with: nil))
            #expect(try await !accounts.open(session, of: ann.user, with: try account("ann", cost: 32).hash))
            #expect(try await accounts.session([1]) == nil)
            #expect(try await accounts.open(session, of: try Tag.username("ANN"), with: ann.hash))
            #expect(try await accounts.session([1]) == session)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Creating, changing or removing an account ends the sessions of its user and no others`(engine: Engine) async throws {
        try await engine.run { storage in
            let accounts = storage.accounts
            func open(_ number: UInt8, _ name: String, _ hash: PasswordHash?) async throws -> Bool {
                try await accounts.open(
                    StoredSession(digest: [number], username: name, expiration: HubBench.startTime), of: try Tag.username(name), with: hash)
            }
            let (old, new) = (try account("René"), try account("RENE\u{301}", cost: 32))
            #expect(try await open(0, "rené", nil))
            #expect(try await open(9, "rene", nil))
            #expect(try await !accounts.update(old))
            #expect(try await !accounts.remove(old.user))
            #expect(try await open(0, "rené", nil))
            #expect(try await accounts.insert(old))
            #expect(try await accounts.session([0]) == nil)
            #expect(try await open(1, "rené", old.hash))
            #expect(try await accounts.update(new))
            #expect(try await accounts.account(old.user)?.hash == new.hash)
            #expect(try await accounts.session([1]) == nil)
            #expect(try await open(2, "RENÉ", new.hash))
            #expect(try await accounts.remove(old.user))
            #expect(try await accounts.account(old.user) == nil)
            #expect(try await accounts.session([2]) == nil)
            #expect(try await accounts.session([9]) != nil)
        }
    }
}
