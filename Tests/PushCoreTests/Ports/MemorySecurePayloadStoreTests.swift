import Support
import Testing

@testable import PushCore

@Suite struct MemorySecurePayloadStoreTests {
    private let store = MemorySecurePayloadStore()

    private func payload(_ id: String, _ seconds: Int64 = 60, for addressee: String = "bob") throws -> SealedPayload {
        SealedPayload(
            id: id, sender: try Tag.ofUser("alice"), addressee: try Tag.ofUser(addressee),
            expiration: HubBench.dawn + .seconds(seconds), sealed: [1])
    }

    private func sweep(_ seconds: Int64) async -> Int {
        await store.sweep(now: HubBench.dawn + .seconds(seconds), retention: .seconds(100))
    }

    @Test func `An id in use is not given again, and what it stands for stays`() async throws {
        #expect(await store.insert(try payload("1"), limit: 9) == .inserted)
        #expect(await store.insert(try payload("1", for: "mallory"), limit: 9) == .idInUse)
        #expect(await store.payload("1") == (try payload("1")))
    }

    @Test func `A change that fails keeps nothing, and one of nothing is told`() async throws {
        _ = await store.insert(try payload("1"), limit: 9)
        let error = await refusal {
            try await store.update("1") { payload throws(PushError) in
                payload.end(.revoked)
                throw PushError("test", "no")
            }
        }
        #expect(error?.code == "test")
        #expect(await store.payload("1")?.isLive == true)
        #expect(try await store.update("2") { $0.grantedReads } == nil)
    }

    @Test func `The limit counts what can be read, of one addressee in any case`() async throws {
        #expect(await store.insert(try payload("1"), limit: 2) == .inserted)
        #expect(await store.insert(try payload("2", for: "BOB"), limit: 2) == .inserted)
        #expect(await store.insert(try payload("3"), limit: 2) == .full)
        #expect(await store.insert(try payload("3", for: "carol"), limit: 2) == .inserted)
        _ = try await store.update("1") { $0.end(.revoked) }
        #expect(await store.insert(try payload("4"), limit: 2) == .inserted)
        await store.remove("4")
        await store.remove("4")
        #expect(await store.insert(try payload("5"), limit: 2) == .inserted)
        #expect(await store.insert(try payload("6"), limit: 2) == .full)
    }

    @Test func `Sweeping ends what has expired once, and forgets it after the retention`() async throws {
        for (id, seconds) in [("1", 10), ("2", 20), ("3", 30)] as [(String, Int64)] {
            _ = await store.insert(try payload(id, seconds), limit: 9)
        }
        _ = try await store.update("2") { $0.end(.revoked) }
        #expect(await sweep(9) == 0)
        #expect(await sweep(20) == 1)
        #expect(await sweep(20) == 0)
        #expect(await store.payload("1")?.ending == .expired)
        #expect(await store.payload("2")?.ending == .revoked)
        #expect(await store.payload("3")?.isLive == true)
        #expect(await sweep(119) == 1)
        #expect(await store.payload("1") == nil)
        #expect(await store.payload("2") != nil)
        #expect(await sweep(500) == 0)
        #expect(await store.payload("3") == nil)
    }

    @Test func `An id that is used again lives as long as its new payload, however often that happens`() async throws {
        for round in 0..<1000 {
            _ = await store.insert(try payload("1", Int64(round % 50)), limit: 9)
            await store.remove("1")
        }
        _ = await store.insert(try payload("1", 60), limit: 9)
        #expect(await sweep(59) == 0)
        #expect(await store.payload("1")?.isLive == true)
        #expect(await sweep(60) == 1)
    }
}
