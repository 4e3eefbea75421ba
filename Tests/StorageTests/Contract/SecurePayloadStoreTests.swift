import Storage
import Support
import Testing

@testable import PushModel

@Suite struct SecurePayloadStoreTests {
    private func payload(
        _ id: String, _ seconds: Int64 = 60, from sender: String = "alice", for recipient: String = "bob"
    ) throws -> SealedPayload {
        SealedPayload(
            id: id, sender: try Tag.username(sender), recipient: try Tag.username(recipient),
            expiration: HubBench.startTime + .seconds(seconds), sealed: [1])
    }

    private func sweep(_ store: any SecurePayloadStore, _ seconds: Int64) async throws -> Int {
        try await store.sweep(now: HubBench.startTime + .seconds(seconds), retention: .seconds(100))
    }

    @Test(arguments: Engine.allCases)
    func `A payload is returned with all of its fields`(engine: Engine) async throws {
        try await engine.run { storage in
            let reads = SecureRead.Result.allCases.map { SecureRead(time: HubBench.startTime, username: Samples.oddText, result: $0) }
            for (number, ending) in [nil, .expired, .exhausted, .revoked].enumerated() as EnumeratedSequence<[SealedPayload.Ending?]> {
                let payload = SealedPayload(
                    id: "\(number)", sender: try Tag.username("Al"), recipient: try Tag.username("BOB"), expiration: .distantFuture,
                    maximumReads: number == 0 ? nil : number, sealed: number == 0 ? Array(0...255) : number == 1 ? [] : nil,
                    keyMark: number == 0 ? [] : [0, 1, 255],
                    history: SealedPayload.History(grantedReads: number, ending: ending, reads: number == 3 ? [] : reads))
                #expect(try await storage.securePayloads.insert(payload, limit: 9, ofSender: 9) == .inserted)
                #expect(try await storage.securePayloads.payload(payload.id) == payload)
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `An id in use is not used again, and its payload is unchanged`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.securePayloads
            #expect(try await store.insert(try payload("1"), limit: 9, ofSender: 9) == .inserted)
            #expect(try await store.insert(try payload("1", for: "mallory"), limit: 9, ofSender: 9) == .idInUse)
            let kept = try await store.payload("1")
            #expect(kept == (try payload("1")))
        }
    }

    @Test(arguments: Engine.allCases)
    func `A change that fails stores nothing, and a change of a missing payload returns nil`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.securePayloads
            _ = try await store.insert(try payload("1"), limit: 9, ofSender: 9)
            let error = await refusal {
                try await store.update("1") { payload throws(PushError) in
                    payload.end(.revoked)
                    throw PushError("test", "no")
                }
            }
            #expect(error?.code == "test")
            #expect(try await store.payload("1")?.isLive == true)
            #expect(try await store.update("2") { $0.grantedReads } == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Simultaneous changes are made one after the other`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.securePayloads
            _ = try await store.insert(try payload("1"), limit: 9, ofSender: 9)
            let read = SecureRead(time: HubBench.startTime, username: "bob", result: .granted)
            try await withThrowingTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask { _ = try await store.update("1") { $0.record(read) } }
                }
                try await group.waitForAll()
            }
            #expect(try await store.payload("1")?.grantedReads == 50)
        }
    }

    @Test(arguments: Engine.allCases)
    func `The limit counts readable payloads of one recipient, in any letter case`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.securePayloads
            #expect(try await store.insert(try payload("1"), limit: 2, ofSender: 2) == .inserted)
            #expect(try await store.insert(try payload("2", for: "BOB"), limit: 2, ofSender: 2) == .inserted)
            #expect(try await store.insert(try payload("3"), limit: 2, ofSender: 2) == .full)
            #expect(try await store.insert(try payload("3", for: "carol"), limit: 2, ofSender: 2) == .inserted)
            _ = try await store.update("1") { $0.end(.revoked) }
            #expect(try await store.insert(try payload("4"), limit: 2, ofSender: 2) == .inserted)
            try await store.remove("4")
            try await store.remove("4")
            #expect(try await store.insert(try payload("5"), limit: 2, ofSender: 2) == .inserted)
            #expect(try await store.insert(try payload("6"), limit: 2, ofSender: 2) == .full)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A sender has a share of a recipient's limit, in any letter case, and others have the rest`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.securePayloads
            func insert(_ id: String, from sender: String, for recipient: String = "bob") async throws -> SecurePayloadInsertion {
                try await store.insert(try payload(id, from: sender, for: recipient), limit: 3, ofSender: 2)
            }
            #expect(try await insert("1", from: "alice") == .inserted)
            #expect(try await insert("2", from: "ALICE") == .inserted)
            #expect(try await insert("3", from: "Alice") == .senderIsFull)
            #expect(try await insert("3", from: "alice", for: "carol") == .inserted)
            #expect(try await insert("4", from: "dan") == .inserted)
            #expect(try await insert("5", from: "dan") == .full)
            _ = try await store.update("2") { $0.end(.revoked) }
            #expect(try await insert("5", from: "alice") == .inserted)
            try await store.remove("5")
            #expect(try await insert("5", from: "alice") == .inserted)
            #expect(try await insert("6", from: "eve") == .full)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A payload that was read is displaced: the sender's own if the share is used up, else any sender's`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.securePayloads
            let later = HubBench.startTime + .seconds(1)
            func insert(_ id: String, from sender: String = "alice") async throws -> SecurePayloadInsertion {
                try await store.insert(try payload(id, from: sender), limit: SecurePayloadLimit(all: 4, ofSender: 2), now: later)
            }
            func read(_ id: String, _ result: SecureRead.Result) async throws {
                _ = try await store.update(id) { $0.record(SecureRead(time: HubBench.startTime, username: "bob", result: result)) }
            }
            for id in ["1", "2"] { #expect(try await insert(id) == .inserted) }
            try await read("2", .forbidden)
            #expect(try await insert("3") == .senderIsFull)
            try await read("2", .granted)
            let before = try #require(try await store.payload("2"))
            #expect(try await insert("3") == .displacedOther(of: before))
            let displaced = try await store.payload("2")
            #expect(displaced?.ending == .expired && displaced?.expiration == later && displaced?.sealed == nil)
            #expect(try await store.payload("1")?.isLive == true)
            for id in ["4", "5"] { #expect(try await insert(id, from: "dan") == .inserted) }
            #expect(try await insert("6", from: "eve") == .full)
            try await read("3", .granted)
            try await read("5", .granted)
            let third = try #require(try await store.payload("3"))
            #expect(try await insert("6", from: "eve") == .displacedOther(of: third))
            #expect(try await store.readable(by: try Tag.ofUser("bob")).map(\.id).sorted() == ["1", "4", "5", "6"])
            let fifth = try #require(try await store.payload("5"))
            #expect(try await insert("7") == .displacedOther(of: fifth))
            #expect(try await insert("8") == .full)
            // A displaced payload is deleted after the same retention as other ended ones.
            _ = try await store.sweep(now: later + .seconds(1), retention: .seconds(1))
            for id in ["2", "3", "5"] { #expect(try await store.payload(id) == nil) }
        }
    }

    @Test(arguments: Engine.allCases)
    func `Removing a user deletes payloads from and to that name, before another user takes it`(engine: Engine) async throws {
        try await engine.run { storage in
            let (store, bob) = (storage.securePayloads, try Tag.username("bob"))
            let account = Account(user: bob, username: "bob", hash: PasswordHash(cost: 4, salt: [1], digest: [2]))
            for (id, sender, recipient) in [("1", "alice", "BOB"), ("2", "Bob", "alice"), ("3", "alice", "carol")] {
                #expect(try await store.insert(try payload(id, from: sender, for: recipient), limit: 9, ofSender: 9) == .inserted)
            }
            // Without an account of that name nothing is deleted.
            #expect(try await !storage.accounts.remove(bob))
            #expect(try await store.payload("1") != nil)
            #expect(try await storage.accounts.insert(account))
            #expect(try await storage.accounts.remove(bob))
            for id in ["1", "2"] { #expect(try await store.payload(id) == nil) }
            #expect(try await store.readable(by: bob).isEmpty)
            #expect(try await store.payload("3") != nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A recipient's readable payloads are listed by expiration and counted by the key that sealed them`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.securePayloads
            for (id, seconds, recipient, mark) in [
                ("1", 30, "bob", [1]), ("2", 10, "BOB", [2]), ("3", 20, "bob", []), ("4", 5, "carol", [1]), ("5", 1, "bob", [3]),
            ] as [(String, Int64, String, [UInt8])] {
                var payload = try payload(id, seconds, for: recipient)
                payload.keyMark = mark
                _ = try await store.insert(payload, limit: 9, ofSender: 9)
            }
            _ = try await store.update("5") { $0.end(.revoked) }
            let bob = try Tag.username("Bob")
            #expect(try await store.readable(by: bob).map(\.id) == ["2", "3", "1"])
            #expect(try await store.readable(by: try Tag.username("nobody")).isEmpty)
            #expect(try await store.readableByKey() == [[1]: 2, [2]: 1, []: 1])
            #expect(try await store.unmarked(limit: 9).map(\.id) == ["3"])
            #expect(try await store.unmarked(limit: 0).isEmpty)
            _ = try await sweep(store, 10)
            #expect(try await store.readable(by: bob).map(\.id) == ["3", "1"])
            #expect(try await store.readableByKey() == [[1]: 1, []: 1])
        }
    }

    @Test(arguments: Engine.allCases)
    func `A sweep ends expired payloads once, and deletes them after the retention`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.securePayloads
            for (id, seconds) in [("1", 10), ("2", 20), ("3", 30)] as [(String, Int64)] {
                _ = try await store.insert(try payload(id, seconds), limit: 9, ofSender: 9)
            }
            _ = try await store.update("2") { $0.end(.revoked) }
            #expect(try await sweep(store, 9) == 0)
            #expect(try await sweep(store, 20) == 1)
            #expect(try await sweep(store, 20) == 0)
            #expect(try await store.payload("1")?.ending == .expired)
            #expect(try await store.payload("1")?.sealed == nil)
            #expect(try await store.payload("2")?.ending == .revoked)
            #expect(try await store.payload("3")?.isLive == true)
            #expect(try await sweep(store, 119) == 1)
            #expect(try await store.payload("1") == nil)
            #expect(try await store.payload("2") != nil)
            #expect(try await sweep(store, 500) == 0)
            #expect(try await store.payload("3") == nil)
            #expect(try await store.sweep(now: Timestamp(milliseconds: .min), retention: .seconds(Int64.max)) == 0)
        }
    }

    @Test(arguments: Engine.allCases)
    func `An id that is used again lives as long as its new payload, any number of times`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.securePayloads
            for round in 0..<200 {
                _ = try await store.insert(try payload("1", Int64(round % 50)), limit: 9, ofSender: 9)
                try await store.remove("1")
            }
            _ = try await store.insert(try payload("1", 60), limit: 9, ofSender: 9)
            #expect(try await sweep(store, 59) == 0)
            #expect(try await store.payload("1")?.isLive == true)
            #expect(try await sweep(store, 60) == 1)
        }
    }
}
