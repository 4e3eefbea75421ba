import PushCore
import Storage
import Support
import Testing

@Suite struct AccountStoreTests {
    private func account(_ name: String, cost: Int = 16) throws -> Account {
        Account(
            user: try Tag.username(name), username: name, hash: PasswordHash(cost: cost, salt: [0, 255], digest: [1, 2, 3]))
    }

    @Test(arguments: Engine.allCases)
    func `A user has one account, whatever the case and the spelling of the name`(engine: Engine) async throws {
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
    func `Accounts come in the order of their tags, in portions`(engine: Engine) async throws {
        try await engine.run { storage in
            let accounts = storage.accounts
            let names = ["ann", "Bob", "carol", "Zoë", "ß", "émile"]
            for name in names.reversed() { #expect(try await accounts.insert(try account(name))) }
            let all = try await accounts.accounts(after: nil, limit: 99).map(\.username)
            #expect(all == names.sorted { $0.lowercased() < $1.lowercased() })
            var paged: [String] = []
            var last: PushCore.Tag?
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
    func `A session is found by its digest until it is closed`(engine: Engine) async throws {
        try await engine.run { storage in
            let accounts = storage.accounts
            let session = StoredSession(digest: Array(0..<32), username: Samples.oddText, expiration: HubBench.dawn)
            try await accounts.open(session)
            #expect(try await accounts.session(session.digest) == session)
            #expect(try await accounts.session(session.digest.reversed()) == nil)
            try await accounts.close(session.digest)
            try await accounts.close(session.digest)
            #expect(try await accounts.session(session.digest) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Expired sessions are forgotten in portions`(engine: Engine) async throws {
        try await engine.run { storage in
            let accounts = storage.accounts
            for number in 0..<5 as Range<UInt8> {
                try await accounts.open(
                    StoredSession(digest: [number], username: "ann", expiration: HubBench.dawn + .seconds(Int64(number))))
            }
            let now = HubBench.dawn + .seconds(3)
            #expect(try await accounts.session([0]) != nil)
            #expect(try await accounts.removeExpired(now: now, limit: 3) == 3)
            #expect(try await accounts.removeExpired(now: now, limit: 3) == 1)
            #expect(try await accounts.removeExpired(now: now, limit: 3) == 0)
            #expect(try await accounts.session([3]) == nil)
            #expect(try await accounts.session([4]) != nil)
        }
    }
}
