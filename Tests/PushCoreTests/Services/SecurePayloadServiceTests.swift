import Crypto
import Support
import Synchronization
import Testing

@testable import PushCore

@Suite struct SecurePayloadServiceTests {
    private let bench: HubBench
    private var service: SecurePayloadService { bench.securePayloads }
    private var store: any SecurePayloadStore { bench.secureStore }

    init() throws { bench = try HubBench() }

    private func keep(_ payload: JSON = "the gate code", maximumReads: Int? = nil) async throws -> SealedPayload {
        try await service.keep(
            SecureRequest(username: "bob", payload: payload, maximumReads: maximumReads), from: "alice"
        ).payload
    }

    @Test func `At rest nothing of the payload can be seen, and no two have the same bytes`() async throws {
        let first = try #require(try await keep().sealed)
        let second = try #require(try await keep().sealed)
        let text = Array(#""the gate code""#.utf8)
        #expect(first.count == 12 + text.count + 16)
        #expect(first.firstRange(of: text) == nil && first.firstRange(of: "gate".utf8) == nil)
        #expect(first.prefix(12) != second.prefix(12))
        #expect(first.dropFirst(12) != second.dropFirst(12))
    }

    @Test func `A byte that was changed at rest, wherever it stands, keeps it shut`() async throws {
        let kept = try await keep()
        let sealed = try #require(kept.sealed)
        for place in sealed.indices {
            _ = try await store.update(kept.id) { $0.sealed?[place] ^= 1 }
            let error = await refusal { try await service.read(kept.id, by: "bob") }
            #expect(error?.code == "secure.sealed" && error?.status == 410)
            _ = try await store.update(kept.id) { $0.sealed = sealed }
        }
        #expect(try await service.read(kept.id, by: "bob") == "the gate code")
    }

    @Test func `Sealed bytes that are cut short or missing keep it shut`() async throws {
        let kept = try await keep()
        for count in [0, 11, 12, 27, 28, 40] {
            _ = try await store.update(kept.id) { $0.sealed = kept.sealed.map { Array($0.prefix(count)) } }
            #expect(await refusal { try await service.read(kept.id, by: "bob") }?.code == "secure.sealed")
        }
        _ = try await store.update(kept.id) { $0.sealed = nil }
        #expect(await refusal { try await service.read(kept.id, by: "bob") }?.code == "secure.sealed")
    }

    @Test func `A row that was given another addressee, expiration or number of reads does not open`() async throws {
        let mallory = try Tag.ofUser("mallory")
        let kept = try await keep(maximumReads: 3)
        let changes: [(String, @Sendable (inout SealedPayload) -> Void)] = [
            ("mallory", { $0.addressee = mallory }), ("bob", { $0.expiration = .distantFuture }),
            ("bob", { $0.maximumReads = 1000 }), ("bob", { $0.maximumReads = nil }),
        ]
        for (reader, change) in changes {
            _ = try await store.update(kept.id) { change(&$0) }
            #expect(await refusal { try await service.read(kept.id, by: reader) }?.code == "secure.sealed")
            _ = try await store.update(kept.id) { $0 = kept }
        }
        #expect(try await service.read(kept.id, by: "bob") == "the gate code")
    }

    @Test func `The sealed bytes of one row do not open in another`() async throws {
        let (first, second) = (try await keep(), try await keep("another"))
        _ = try await store.update(second.id) { $0.sealed = first.sealed }
        #expect(await refusal { try await service.read(second.id, by: "bob") }?.code == "secure.sealed")
    }

    @Test func `What does not open has not been read`() async throws {
        let kept = try await keep(maximumReads: 1)
        _ = try await store.update(kept.id) { $0.sealed?[0] ^= 1 }
        _ = await refusal { try await service.read(kept.id, by: "bob") }
        #expect(try await store.payload(kept.id)?.isLive == true)
        #expect(try await service.reads(of: kept.id, for: "bob").isEmpty)
    }

    @Test func `Another key opens nothing, and how many do not open is known beforehand`() async throws {
        let kept = try await keep()
        let unmarked = try await keep()
        _ = try await store.update(unmarked.id) { $0.keyMark = [] }
        let other = try SecurePayloadService(
            environment: bench.environment, store: store, key: SymmetricKey(data: Array(UInt8(1)...32)))
        let error = await refusal { try await other.read(kept.id, by: "bob") }
        #expect(error?.code == "secure.sealed" && error?.status == 410 && error?.message.contains("a key that is lost") == true)
        #expect(await refusal { try await other.read(unmarked.id, by: "bob") }?.status == 410)
        #expect(try await other.sealedOtherwise() == 2)
        #expect(try await store.payload(unmarked.id)?.keyMark == [])
        let counts = try await store.readableByKey()
        #expect(SecurePayloadService.sealedOtherwise(counts, than: HubBench.key) == 0)
        #expect(SecurePayloadService.sealedOtherwise(counts, than: nil) == 2)
        // The addressee can make room for what is of no use any more.
        for payload in [kept, unmarked] { try await other.revoke(payload.id, by: "bob") }
        #expect(try await other.sealedOtherwise() == 0)
    }

    @Test func `What has no mark of its key is tried, and marked when it opens, at most a hundred at a time`() async throws {
        for number in 0..<101 {
            let sender = "sender\(number % 5)"
            let kept = try await service.keep(
                SecureRequest(username: number < 100 ? "bob" : "carol", payload: 1, maximumReads: 1), from: sender
            ).payload
            _ = try await store.update(kept.id) { $0.keyMark = [] }
        }
        #expect(try await service.sealedOtherwise() == 0)
        #expect(try await store.unmarked(limit: 200).count == 1)
        #expect(try await service.sealedOtherwise() == 0)
        #expect(try await store.unmarked(limit: 200).isEmpty)
        let broken = try await service.keep(SecureRequest(username: "carol", payload: 1), from: "alice").payload
        _ = try await store.update(broken.id) { payload in
            payload.keyMark = []
            payload.sealed?[0] ^= 1
        }
        #expect(try await service.sealedOtherwise() == 1)
        #expect(try await service.sealedOtherwise() == 1)
    }

    @Test(arguments: [0, 16, 24, 33]) func `A key that has not 256 bits is refused`(count: Int) async throws {
        let key = SymmetricKey(data: Array(repeating: UInt8(7), count: count))
        let error = await refusal {
            try SecurePayloadService(environment: bench.environment, store: store, key: key)
        }
        #expect(error?.code == "secure.key")
    }

    @Test func `An id in use is passed over, whether its payload can be read or not`() async throws {
        let random = ListedRandom([41, 1, 2, 41, 3, 4, 42, 5, 6, 42, 7, 8, UInt64(Int32.max) - 1, 9, 10])
        let environment = HubEnvironment(clock: bench.clock, random: random, start: { _ in Task {} })
        let service = try SecurePayloadService(environment: environment, store: store, key: HubBench.key)
        let request = SecureRequest(username: "bob", payload: 1)
        let first = try await service.keep(request, from: "alice").payload
        try await service.revoke(first.id, by: "alice")
        let second = try await service.keep(request, from: "alice").payload
        let third = try await service.keep(request, from: "alice").payload
        #expect([first.id, second.id, third.id] == ["42", "43", "2147483647"])
        #expect(try await service.read(second.id, by: "bob") == 1)
    }
}

/// Numbers from a list, and 0 after its end.
private final class ListedRandom: RandomSource {
    private let numbers: Mutex<ArraySlice<UInt64>>

    init(_ numbers: [UInt64]) { self.numbers = Mutex(numbers[...]) }

    func next() -> UInt64 { numbers.withLock { $0.popFirst() ?? 0 } }
}
