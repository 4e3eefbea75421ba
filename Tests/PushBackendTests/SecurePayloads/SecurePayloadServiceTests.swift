import Crypto
import Support
import Synchronization
import Testing

@testable import PushBackend
@testable import PushModel

@Suite struct SecurePayloadServiceTests {
    private let bench: HubBench
    private var service: SecurePayloadService { bench.securePayloads }
    private var store: any SecurePayloadStore { bench.secureStore }

    init() throws { bench = try HubBench() }

    private func keep(_ payload: JSON = "the gate code", maximumReads: Int? = nil) async throws -> SealedPayload {
        try await service.save(
            SecureRequest(username: "bob", payload: payload, maximumReads: maximumReads), from: "alice"
        ).payload
    }

    @Test func `At rest nothing of the payload is visible, and equal payloads have different bytes`() async throws {
        let first = try #require(try await keep().sealed)
        let second = try #require(try await keep().sealed)
        let text = Array(#""the gate code""#.utf8)
        #expect(first.count == 12 + text.count + 16)
        #expect(first.firstRange(of: text) == nil && first.firstRange(of: "gate".utf8) == nil)
        #expect(first.prefix(12) != second.prefix(12))
        #expect(first.dropFirst(12) != second.dropFirst(12))
    }

    @Test func `A payload with any changed byte does not open`() async throws {
        let stored = try await keep()
        let sealed = try #require(stored.sealed)
        for index in sealed.indices {
            _ = try await store.update(stored.id) { $0.sealed?[index] ^= 1 }
            let error = await refusal { try await service.read(stored.id, by: "bob") }
            #expect(error?.code == "secure.sealed" && error?.status == 410)
            _ = try await store.update(stored.id) { $0.sealed = sealed }
        }
        #expect(try await service.read(stored.id, by: "bob") == "the gate code")
    }

    @Test func `A payload whose sealed bytes are truncated or missing does not open`() async throws {
        let stored = try await keep()
        for count in [0, 11, 12, 27, 28, 40] {
            _ = try await store.update(stored.id) { $0.sealed = stored.sealed.map { Array($0.prefix(count)) } }
            #expect(await refusal { try await service.read(stored.id, by: "bob") }?.code == "secure.sealed")
        }
        _ = try await store.update(stored.id) { $0.sealed = nil }
        #expect(await refusal { try await service.read(stored.id, by: "bob") }?.code == "secure.sealed")
    }

    @Test func `A row with a changed recipient, expiration or number of reads does not open`() async throws {
        let mallory = try Tag.ofUser("mallory")
        let stored = try await keep(maximumReads: 3)
        let changes: [(String, @Sendable (inout SealedPayload) -> Void)] = [
            ("mallory", { $0.recipient = mallory }), ("bob", { $0.expiration = .distantFuture }),
            ("bob", { $0.maximumReads = 1000 }), ("bob", { $0.maximumReads = nil }),
        ]
        for (reader, change) in changes {
            _ = try await store.update(stored.id) { change(&$0) }
            #expect(await refusal { try await service.read(stored.id, by: reader) }?.code == "secure.sealed")
            _ = try await store.update(stored.id) { $0 = stored }
        }
        #expect(try await service.read(stored.id, by: "bob") == "the gate code")
    }

    @Test func `The sealed bytes of one row do not open in another`() async throws {
        let (first, second) = (try await keep(), try await keep("another"))
        _ = try await store.update(second.id) { $0.sealed = first.sealed }
        #expect(await refusal { try await service.read(second.id, by: "bob") }?.code == "secure.sealed")
    }

    @Test func `A failed opening does not count as a read`() async throws {
        let stored = try await keep(maximumReads: 1)
        _ = try await store.update(stored.id) { $0.sealed?[0] ^= 1 }
        _ = await refusal { try await service.read(stored.id, by: "bob") }
        #expect(try await store.payload(stored.id)?.isLive == true)
        #expect(try await service.reads(of: stored.id, for: "bob").isEmpty)
    }

    @Test func `Another key opens nothing, and the number of such payloads is known in advance`() async throws {
        let stored = try await keep()
        let unmarked = try await keep()
        _ = try await store.update(unmarked.id) { $0.keyMark = [] }
        let other = try SecurePayloadService(
            environment: bench.environment, store: store, key: SymmetricKey(data: Array(UInt8(1)...32)))
        let error = await refusal { try await other.read(stored.id, by: "bob") }
        #expect(error?.code == "secure.sealed" && error?.status == 410 && error?.message.contains("a key that is lost") == true)
        #expect(await refusal { try await other.read(unmarked.id, by: "bob") }?.status == 410)
        #expect(try await other.sealedWithOtherKey() == 2)
        #expect(try await store.payload(unmarked.id)?.keyMark == [])
        let counts = try await store.readableByKey()
        #expect(SecurePayloadService.sealedWithOtherKey(counts, than: HubBench.key) == 0)
        #expect(SecurePayloadService.sealedWithOtherKey(counts, than: nil) == 2)
        // The recipient can free space by revoking payloads that no longer open.
        for payload in [stored, unmarked] { try await other.revoke(payload.id, by: "bob") }
        #expect(try await other.sealedWithOtherKey() == 0)
    }

    @Test func `A payload without a key mark is tried and then marked, at most a hundred at a time`() async throws {
        for number in 0..<101 {
            let sender = "sender\(number % 5)"
            let stored = try await service.save(
                SecureRequest(username: number < 100 ? "bob" : "carol", payload: 1, maximumReads: 1), from: sender
            ).payload
            _ = try await store.update(stored.id) { $0.keyMark = [] }
        }
        #expect(try await service.sealedWithOtherKey() == 0)
        #expect(try await store.unmarked(limit: 200).count == 1)
        #expect(try await service.sealedWithOtherKey() == 0)
        #expect(try await store.unmarked(limit: 200).isEmpty)
        let broken = try await service.save(SecureRequest(username: "carol", payload: 1), from: "alice").payload
        _ = try await store.update(broken.id) { payload in
            payload.keyMark = []
            payload.sealed?[0] ^= 1
        }
        #expect(try await service.sealedWithOtherKey() == 1)
        #expect(try await service.sealedWithOtherKey() == 1)
    }

    @Test(arguments: [0, 16, 24, 33]) func `A key that does not have 256 bits is rejected`(count: Int) async throws {
        let key = SymmetricKey(data: Array(repeating: UInt8(7), count: count))
        let error = await refusal {
            try SecurePayloadService(environment: bench.environment, store: store, key: key)
        }
        #expect(error?.code == "secure.key")
    }

    @Test func `An id in use is skipped, whether its payload is readable or not`() async throws {
        let random = ListedRandom([41, 1, 2, 41, 3, 4, 42, 5, 6, 42, 7, 8, UInt64(Int32.max) - 1, 9, 10])
        let environment = HubEnvironment(clock: bench.clock, random: random, start: { _ in Task {} })
        let service = try SecurePayloadService(environment: environment, store: store, key: HubBench.key)
        let request = SecureRequest(username: "bob", payload: 1)
        let first = try await service.save(request, from: "alice").payload
        try await service.revoke(first.id, by: "alice")
        let second = try await service.save(request, from: "alice").payload
        let third = try await service.save(request, from: "alice").payload
        #expect([first.id, second.id, third.id] == ["42", "43", "2147483647"])
        #expect(try await service.read(second.id, by: "bob") == 1)
    }
}

/// Returns the numbers of a list, then 0.
private final class ListedRandom: RandomSource {
    private let numbers: Mutex<ArraySlice<UInt64>>

    init(_ numbers: [UInt64]) { self.numbers = Mutex(numbers[...]) }

    func next() -> UInt64 { numbers.withLock { $0.popFirst() ?? 0 } }
}
