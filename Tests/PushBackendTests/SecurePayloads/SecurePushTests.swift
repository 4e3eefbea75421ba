import PushBackend
import PushModel
import Support
import Synchronization
import Testing

@Suite struct SecurePushTests {
    private let bench: HubBench
    private let alice: Session
    private let bob: Session
    private let mallory: Session
    private var backend: AppBackend { bench.backend }

    private static let marker = "s3cr3t-meeting-point"
    private static let payload: JSON = ["where": .string(marker), "at": [9, 30], "sure": true]

    init() async throws {
        bench = try HubBench(sessionLifetime: .seconds(60 * 86_400))
        alice = try await bench.login("alice")
        bob = try await bench.login("bob")
        mallory = try await bench.login("mallory")
    }

    private func send(
        to username: String = "bob", payload: JSON = payload, lifetime: Duration? = nil, maximumReads: Int? = nil
    ) async throws -> SecureReceipt {
        try await backend.sendSecure(
            alice, SecureRequest(username: username, payload: payload, lifetime: lifetime, maximumReads: maximumReads))
    }

    private func read(_ id: String, _ session: Session) async -> PushError? {
        await refusal { try await backend.securePayload(session, id: id) }
    }

    // MARK: - What is sent over the network

    @Test func `The push contains the id and nothing of the payload, in the shapes of the tutorials`() async throws {
        let handles: [DeviceHandle] = [
            .phone(1), .fcmV1(token: "t"), .gcm(token: "t"), .wns(channel: "https://db5.notify.windows.com/?t=1"),
            .subscription,
        ]
        for handle in handles { try await bench.register(handle, tags: ["username:bob"]) }
        try await bench.register(.phone(66), tags: ["username:mallory", "from:alice", "bob"])
        let receipt = try await send(lifetime: .seconds(60))
        #expect(receipt.outcome.devices.map(\.handle) == handles && receipt.outcome.sent == 5)
        #expect(receipt.outcome.tags == "username:bob")
        #expect(receipt.expiration == HubBench.startTime + .seconds(60))
        let id = receipt.id
        #expect(
            bench.connector.bodies == [
                #"{"aps":{"content-available":1},"secureId":"\#(id)"}"#,
                #"{"message":{"data":{"secureId":"\#(id)"}}}"#, #"{"data":{"secureId":"\#(id)"}}"#, id,
                #"{"secureId":"\#(id)"}"#,
            ])
        #expect(
            bench.connector.batches.map(\.headers) == [
                [PushHeader("apns-push-type", "background"), PushHeader("apns-priority", "5")], [], [],
                [PushHeader("X-WNS-Type", "wns/raw")], [],
            ])
        #expect(bench.connector.batches.allSatisfy { $0.options == PushOptions(expiration: receipt.expiration) })
    }

    @Test func `The payload appears in no event, push, description or error`() async throws {
        try await bench.register(.phone(1), tags: ["username:bob"])
        let request = SecureRequest(username: "bob", payload: Self.payload, maximumReads: 1)
        let id = try await send(maximumReads: 1).id
        var texts = ["\(request)", String(reflecting: request), "\([request])"]
        dump(request, to: &texts[0])
        for session in [alice, mallory, bob, bob] { texts.append("\(String(describing: await read(id, session)))") }
        texts += ["\(String(describing: try await bench.secureStore.payload(id)))"]
        texts += bench.events.map(\.text) + bench.connector.bodies
        texts += bench.connector.batches.flatMap(\.headers).map { "\($0)" }
        let tooLarge = SecureRequest(
            username: "bob", payload: .string(Self.marker + String(repeating: "x", count: 65_536)))
        texts.append("\(String(describing: await refusal { try await backend.sendSecure(alice, tooLarge) }))")
        #expect(texts.count > 15)
        #expect(!texts.contains { $0.contains(Self.marker) })
        #expect(texts.contains { $0.contains("secure.too_large") } && texts.contains { $0.contains("secure.exhausted") })
    }

    @Test func `Ids are 31-bit numbers that reveal nothing about each other`() async throws {
        var ids: [Int] = []
        for number in 0..<500 { ids.append(try #require(Int(try await send(to: "user\(number)").id))) }
        #expect(Set(ids).count == 500)
        #expect(ids.allSatisfy { (1...Int(Int32.max)).contains($0) })
        #expect(zip(ids, ids.dropFirst()).allSatisfy { abs($0 - $1) > 1 })
        #expect(ids != ids.sorted())
    }

    @Test func `Without a device nothing is pushed, and the payload can still be fetched`() async throws {
        let receipt = try await send()
        #expect(receipt.outcome.state == .noTargetFound)
        #expect(try await backend.securePayload(bob, id: receipt.id) == Self.payload)
    }

    @Test func `If the push cannot be sent nothing is stored, and no older payload is dropped`() async throws {
        let hub = InterceptedHub(bench.hub) { call throws(PushError) in
            if call == .send { throw PushError("hub.unreachable", "no way", status: 503, isRetryable: true) }
        }
        let broken = try bench.backend(over: hub)
        for _ in 0...SecurePayloadService.maximumPayloads {
            let error = await refusal {
                try await broken.sendSecure(alice, SecureRequest(username: "bob", payload: "x"))
            }
            #expect(error?.code == "hub.unreachable")
        }
        let ids = bench.notes(.backend).compactMap { $0.firstMatch(of: /secure payload (\d+) stored/)?.1 }
        #expect(ids.count == SecurePayloadService.maximumPayloads + 1)
        for id in ids { #expect(await read(String(id), bob)?.code == "secure.not_found") }
        for _ in 0..<SecurePayloadService.maximumPerSender {
            _ = try await backend.securePayload(bob, id: try await send().id)
        }
        let before = try await backend.readableSecurePayloads(bob)
        for _ in 0..<3 { _ = await refusal { try await broken.sendSecure(alice, SecureRequest(username: "bob", payload: "x")) } }
        #expect(try await backend.readableSecurePayloads(bob) == before && before.count == SecurePayloadService.maximumPerSender)
    }

    // MARK: - Access

    @Test func `Only the recipient reads it, not even its sender`() async throws {
        let id = try await send().id
        for session in [alice, mallory] {
            let error = await read(id, session)
            #expect(error?.code == "secure.forbidden" && error?.status == 403)
            #expect(error?.message == "secure payload \(id) is for another user")
        }
        #expect(try await backend.securePayload(bob, id: id) == Self.payload)
    }

    @Test func `Names that differ only in case are one recipient`() async throws {
        let bench = try HubBench(isTutorialMode: true)
        let upper = try await bench.backend.login(username: "BOB", password: Secret("BOB"))
        let lower = try await bench.backend.login(username: "bob", password: Secret("bob"))
        let id = try await bench.backend.sendSecure(lower, SecureRequest(username: "Bob", payload: 7)).id
        #expect(try await bench.backend.securePayload(upper, id: id) == 7)
        #expect(try await bench.backend.securePayload(lower, id: id) == 7)
        #expect(try await bench.backend.secureReads(upper, id: id).map(\.username) == ["BOB", "bob"])
    }

    @Test func `A session with a forged name or a closed session reads and sends nothing`() async throws {
        let id = try await send().id
        var forged = mallory
        forged.username = "bob"
        #expect(await read(id, forged)?.code == "secure.forbidden")
        #expect(try await backend.secureReads(bob, id: id).map(\.username) == ["mallory"])
        try await backend.logout(bob)
        let sent = bench.notes(.backend).count
        for error in [
            await read(id, bob),
            await refusal { try await backend.sendSecure(bob, SecureRequest(username: "bob", payload: 1)) },
            await refusal { try await backend.revokeSecurePayload(bob, id: id) },
            await refusal { try await backend.secureReads(bob, id: id) },
        ] {
            #expect(error?.code == "auth.session_expired" && error?.status == 401)
        }
        #expect(bench.notes(.backend).count == sent)
    }

    @Test(arguments: ["", "0", "-1", "abc", "007"]) func `An unknown id is not found`(id: String) async throws {
        for error in [
            await read(id, bob), await refusal { try await backend.revokeSecurePayload(bob, id: id) },
            await refusal { try await backend.secureReads(bob, id: id) },
        ] {
            #expect(error?.code == "secure.not_found" && error?.status == 404)
        }
    }

    // MARK: - End of a payload

    @Test func `It can be read as often as its sender allowed, then its content is deleted`() async throws {
        let id = try await send(maximumReads: 2).id
        for _ in 0..<2 { #expect(try await backend.securePayload(bob, id: id) == Self.payload) }
        #expect(try await bench.secureStore.payload(id)?.sealed == nil)
        let error = await read(id, bob)
        #expect(error?.code == "secure.exhausted" && error?.status == 410)
        #expect(error?.message == "secure payload \(id) has been read 2 times, as often as its sender allowed")
    }

    @Test func `Rejected attempts do not use up the reads`() async throws {
        let id = try await send(maximumReads: 1).id
        for _ in 0..<10 { _ = await read(id, mallory) }
        #expect(try await backend.securePayload(bob, id: id) == Self.payload)
    }

    @Test func `It expires exactly on time, and its ciphertext is deleted`() async throws {
        let id = try await send().id
        bench.advance(by: .milliseconds(3_599_999))
        #expect(try await backend.securePayload(bob, id: id) == Self.payload)
        bench.advance(by: .milliseconds(1))
        try await bench.securePayloads.sweep()
        #expect(try await bench.secureStore.payload(id)?.sealed == nil)
        #expect(bench.notes(.backend).last == "1 secure payload expired")
        let error = await read(id, bob)
        #expect(error?.code == "secure.expired" && error?.status == 410)
        #expect(error?.message == "secure payload \(id) expired at 2026-01-05T10:00:00.000Z")
    }

    @Test func `Any call of the service removes expired payloads`() async throws {
        let id = try await send(lifetime: .seconds(1)).id
        bench.advance(by: .seconds(1))
        _ = try await send(to: "carol")
        #expect(try await bench.secureStore.payload(id)?.sealed == nil)
    }

    @Test func `Its end and its reads are stored for seven days after it expired`() async throws {
        let id = try await send(lifetime: .seconds(60)).id
        _ = await read(id, bob)
        bench.advance(by: .seconds(60) + SecurePayloadService.retention - .milliseconds(1))
        #expect(await read(id, bob)?.code == "secure.expired")
        #expect(try await backend.secureReads(alice, id: id).map(\.result) == [.granted, .expired])
        bench.advance(by: .milliseconds(1))
        #expect(await read(id, bob)?.code == "secure.not_found")
        #expect(await refusal { try await backend.secureReads(alice, id: id) }?.code == "secure.not_found")
    }

    @Test func `Only the sender and the recipient can revoke it, and one that has ended does not change`() async throws {
        for session in [alice, bob] {
            let id = try await send().id
            let error = await refusal { try await backend.revokeSecurePayload(mallory, id: id) }
            #expect(error?.code == "secure.forbidden" && error?.status == 403)
            try await backend.revokeSecurePayload(session, id: id)
            try await backend.revokeSecurePayload(session, id: id)
            #expect(try await bench.secureStore.payload(id)?.sealed == nil)
            let refused = await read(id, bob)
            #expect(refused?.code == "secure.revoked" && refused?.status == 410)
            bench.advance(by: .seconds(3600))
            #expect(await read(id, bob)?.code == "secure.revoked")
        }
        let read = try await send(maximumReads: 1).id
        _ = try await backend.securePayload(bob, id: read)
        try await backend.revokeSecurePayload(alice, id: read)
        #expect(await self.read(read, bob)?.code == "secure.exhausted")
        let expired = try await send(lifetime: .seconds(1)).id
        bench.advance(by: .seconds(1))
        try await backend.revokeSecurePayload(alice, id: expired)
        #expect(await self.read(expired, bob)?.code == "secure.expired")
    }

    @Test func `The sender and the recipient see the attempts, oldest first; others see nothing`() async throws {
        let id = try await send(lifetime: .seconds(60), maximumReads: 1).id
        for session in [mallory, bob, bob, alice] {
            _ = await read(id, session)
            bench.advance(by: .seconds(1))
        }
        bench.advance(by: .seconds(60))
        _ = await read(id, bob)
        let expected: [(Int64, String, SecureRead.Result)] = [
            (0, "mallory", .forbidden), (1, "bob", .granted), (2, "bob", .exhausted), (3, "alice", .forbidden),
            (64, "bob", .exhausted),
        ]
        let reads = expected.map { SecureRead(time: HubBench.startTime + .seconds($0.0), username: $0.1, result: $0.2) }
        #expect(try await backend.secureReads(alice, id: id) == reads)
        #expect(try await backend.secureReads(bob, id: id) == reads)
        let error = await refusal { try await backend.secureReads(mallory, id: id) }
        #expect(error?.code == "secure.forbidden" && error?.status == 403)
    }

    // MARK: - Limits

    @Test func `An invalid payload is rejected before anything is stored or sent`() async throws {
        try await bench.register(.phone(1), tags: ["username:bob"])
        var deep: JSON = 1
        for level in 0...JSON.maximumDepth { deep = level.isMultiple(of: 2) ? [deep] : ["a": deep] }
        let month = Duration.seconds(30 * 86_400)
        let cases: [(SecureRequest, String, Int)] = [
            (SecureRequest(username: "bob", payload: 1, lifetime: .zero), "secure.lifetime", 400),
            (SecureRequest(username: "bob", payload: 1, lifetime: .seconds(-5)), "secure.lifetime", 400),
            (SecureRequest(username: "bob", payload: 1, lifetime: month + .milliseconds(1)), "secure.lifetime", 400),
            (SecureRequest(username: "bob", payload: 1, maximumReads: 0), "secure.maximum_reads", 400),
            (SecureRequest(username: "bob", payload: 1, maximumReads: .min), "secure.maximum_reads", 400),
            (
                SecureRequest(username: "bob", payload: .string(String(repeating: "x", count: 65_535))),
                "secure.too_large", 413
            ),
            (SecureRequest(username: "bob", payload: deep), "secure.payload", 400),
            (SecureRequest(username: "", payload: 1), "tag.invalid", 400),
            (SecureRequest(username: "bob || username:alice", payload: 1), "tag.invalid", 400),
        ]
        let notes = bench.notes(.backend)
        for (request, code, status) in cases {
            let error = await refusal { try await backend.sendSecure(alice, request) }
            #expect(error?.code == code && error?.status == status)
        }
        #expect(bench.connector.batches.isEmpty && bench.notes(.backend) == notes)
    }

    @Test func `A payload exactly at the limits is stored and returned unchanged`() async throws {
        let text = JSON.string(String(repeating: "x", count: 65_534))
        let id = try await send(payload: text, lifetime: .seconds(30 * 86_400)).id
        bench.advance(by: .seconds(30 * 86_400) - .milliseconds(1))
        #expect(try await backend.securePayload(bob, id: id) == text)
        var deep: JSON = 1
        for level in 0..<JSON.maximumDepth { deep = level.isMultiple(of: 2) ? [deep] : ["a": deep] }
        for payload: JSON in [deep, .null, "", [:], 1.5, ["é\u{0}\"": [.null, -1]]] {
            #expect(try await backend.securePayload(bob, id: try await send(payload: payload).id) == payload)
        }
    }

    /// Stores the maximum number of payloads for bob from each of several senders.
    private func fill(senders: Int) async throws {
        for number in 0..<senders {
            let sender = try await bench.login("sender\(number)")
            for _ in 0..<SecurePayloadService.maximumPerSender {
                _ = try await backend.sendSecure(sender, SecureRequest(username: "bob", payload: 1))
            }
        }
    }

    @Test func `A sender may have 25 unread payloads with a recipient, and does not block other senders`() async throws {
        for _ in 0..<25 { _ = try await send() }
        let error = await refusal { try await send(to: "BOB") }
        #expect(error?.code == "secure.too_many" && error?.status == 429 && error?.details["limit"] == 25)
        #expect(error?.message == "BOB has 25 secure payloads of the same sender that were never read")
        #expect(error?.hint == "revoke some of yours, or wait until they are read or expire")
        _ = try await send(to: "mallory")
        let other = try await backend.sendSecure(mallory, SecureRequest(username: "bob", payload: 1))
        // Bob, who knows no ids, lists them all and revokes one.
        let listed = try await backend.readableSecurePayloads(bob)
        #expect(listed.count == 26 && listed.contains { $0.id == other.id && $0.sender.username == "mallory" })
        #expect(try await backend.readableSecurePayloads(alice).isEmpty)
        let first = try #require(listed.first { $0.sender.username == "alice" })
        try await backend.revokeSecurePayload(bob, id: first.id)
        #expect(try await backend.readableSecurePayloads(bob).count == 25)
        let last = try await send()
        #expect(await refusal { try await send() }?.code == "secure.too_many")
        // It has been read, so a new payload may replace it.
        _ = try await backend.securePayload(bob, id: last.id)
        let next = try await send(payload: 1)
        #expect(try await backend.readableSecurePayloads(bob).count == 26)
        #expect(await refusal { try await backend.securePayload(bob, id: last.id) }?.code == "secure.expired")
        #expect(try await backend.securePayload(bob, id: next.id) == 1)
    }

    @Test func `A recipient who fetches at once can receive without limit, and a sender does not fill the limit of others`() async throws {
        for number in 0..<120 {
            let sent = try await send(payload: .integer(Int64(number)), lifetime: .seconds(30 * 86_400))
            #expect(try await backend.securePayload(bob, id: sent.id) == .integer(Int64(number)))
        }
        #expect(try await backend.readableSecurePayloads(bob).count == 25)
        // Payloads that were read do not use up the limit.
        try await fill(senders: 4)
        #expect(try await backend.readableSecurePayloads(bob).count == 100)
        let error = await refusal { try await send() }
        #expect(error?.code == "secure.too_many" && error?.details["limit"] == 100)
    }

    @Test func `Payloads that users send to themselves have only the limit of the recipient`() async throws {
        let request = SecureRequest(username: "Alice", payload: 1)
        for _ in 0..<100 { _ = try await backend.sendSecure(alice, request) }
        let error = await refusal { try await backend.sendSecure(alice, request) }
        #expect(error?.code == "secure.too_many" && error?.details["limit"] == 100)
    }

    @Test func `A recipient may have a hundred readable payloads, and the end of any one makes space`() async throws {
        var ids: [String] = []
        try await fill(senders: 3)
        for _ in 0..<23 { ids.append(try await send().id) }
        ids.append(try await send(maximumReads: 1).id)
        ids.append(try await backend.sendSecure(mallory, SecureRequest(username: "bob", payload: 1, lifetime: .seconds(60))).id)
        let sends = bench.notes(.audience).count
        let error = await refusal { try await send(to: "BOB") }
        #expect(error?.code == "secure.too_many" && error?.status == 429 && error?.isRetryable == false)
        #expect(error?.hint?.hasPrefix("BOB can fetch or revoke some, which GET /api/notifications lists") == true)
        #expect(bench.notes(.audience).count == sends)
        _ = try await send(to: "mallory")
        _ = try await backend.securePayload(bob, id: ids[23])
        ids.append(try await send().id)
        #expect(await refusal { try await send() }?.code == "secure.too_many")
        try await backend.revokeSecurePayload(bob, id: ids[0])
        _ = try await send()
        bench.advance(by: .seconds(60))
        _ = try await send()
        #expect(await refusal { try await send() }?.code == "secure.too_many")
    }

    // MARK: - Races

    @Test func `Concurrent reads never exceed the allowed number`() async throws {
        let backend = try bench.backend(store: DelayedStore(bench.secureStore))
        let id = try await backend.sendSecure(
            alice, SecureRequest(username: "bob", payload: Self.payload, maximumReads: 5)
        ).id
        let codes = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<60 { group.addTask { await refusal { try await backend.securePayload(bob, id: id) }?.code } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 5)
        #expect(codes.count { $0 == "secure.exhausted" } == 55)
        let reads = try await backend.secureReads(alice, id: id).map(\.result)
        #expect(reads.count { $0 == .granted } == 5 && reads.count == 60)
        #expect(reads.prefix(5).allSatisfy { $0 == .granted })
    }

    @Test func `Concurrent sends never exceed the limit`() async throws {
        let backend = try bench.backend(store: DelayedStore(bench.secureStore))
        let codes = await withTaskGroup(of: String?.self) { group in
            for number in 0..<130 {
                group.addTask {
                    let request = SecureRequest(username: "bob", payload: .integer(Int64(number)))
                    return await refusal { try await backend.sendSecure(alice, request) }?.code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 25 && codes.count { $0 == "secure.too_many" } == 105)
    }

    @Test func `No read succeeds once a revocation has returned`() async throws {
        let backend = try bench.backend(store: DelayedStore(bench.secureStore))
        let id = try await backend.sendSecure(alice, SecureRequest(username: "bob", payload: 1)).id
        let revocation = Revocation()
        let late = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    if number == 20 {
                        try? await backend.revokeSecurePayload(alice, id: id)
                        revocation.isAnswered.withLock { $0 = true }
                        return false
                    }
                    let wasRevoked = revocation.isAnswered.withLock { $0 }
                    let isGranted = await refusal { try await backend.securePayload(bob, id: id) } == nil
                    return wasRevoked && isGranted
                }
            }
            return await group.reduce(into: false) { $0 = $0 || $1 }
        }
        #expect(!late)
        #expect(await refusal { try await backend.securePayload(bob, id: id) }?.code == "secure.revoked")
        let results = try await backend.secureReads(alice, id: id).map(\.result)
        #expect(results == results.filter { $0 == .granted } + results.filter { $0 == .revoked })
    }
}

private final class Revocation: Sendable {
    let isAnswered = Mutex(false)
}

/// Yields to other tasks before and after each step.
private struct DelayedStore: SecurePayloadStore {
    private let store: any SecurePayloadStore

    init(_ store: any SecurePayloadStore) { self.store = store }

    private func hesitate() async {
        for _ in 0..<3 { await Task.yield() }
    }

    func insert(
        _ payload: SealedPayload, limit: SecurePayloadLimit, now: Timestamp
    ) async throws(PushError) -> SecurePayloadInsertion {
        await hesitate()
        let insertion = try await store.insert(payload, limit: limit, now: now)
        await hesitate()
        return insertion
    }

    func payload(_ id: String) async throws(PushError) -> SealedPayload? {
        await hesitate()
        return try await store.payload(id)
    }

    func readable(by recipient: PushModel.Tag) async throws(PushError) -> [SealedPayload] { try await store.readable(by: recipient) }

    func unmarked(limit: Int) async throws(PushError) -> [SealedPayload] { try await store.unmarked(limit: limit) }

    func readableByKey() async throws(PushError) -> [[UInt8]: Int] { try await store.readableByKey() }

    func update<Result: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout SealedPayload) throws(PushError) -> Result
    ) async throws(PushError) -> Result? {
        await hesitate()
        let result = try await store.update(id, change)
        await hesitate()
        return result
    }

    func remove(_ id: String) async throws(PushError) { try await store.remove(id) }

    func sweep(now: Timestamp, retention: Duration) async throws(PushError) -> Int {
        await hesitate()
        return try await store.sweep(now: now, retention: retention)
    }
}
