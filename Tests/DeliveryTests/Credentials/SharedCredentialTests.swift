import PushModel
import Support
import Synchronization
import Testing

@testable import Delivery

@Suite("A credential that many deliveries share")
struct SharedCredentialTests {
    private let shared = SharedCredential()
    private let failure = DeliveryFailure(verdict: .unknown(reason: "nothing"))

    private static func credential(_ name: String) -> Credential {
        Credential(
            token: Secret(name), issued: Accounts.start, renewal: Accounts.start + .seconds(50),
            expires: Accounts.start + .seconds(60))
    }

    private static func pause() async { for _ in 0..<200 { await Task.yield() } }

    @Test("Concurrent callers share one request")
    func once() async {
        let count = Counter()
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    _ = try? await shared.credential(now: Accounts.start) { () async throws(DeliveryFailure) in
                        count.increment()
                        await Self.pause()
                        return Self.credential("a")
                    }
                }
            }
        }
        #expect(count.value == 1)
    }

    @Test("A rejected credential is replaced once for all callers")
    func refused() async throws {
        let old = try await shared.credential(now: Accounts.start) { () async throws(DeliveryFailure) in
            Self.credential("old")
        }
        let count = Counter()
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    let new = try? await shared.credential(otherThan: old, now: Accounts.start) {
                        () async throws(DeliveryFailure) in
                        count.increment()
                        await Self.pause()
                        return Self.credential("new")
                    }
                    #expect(new == Self.credential("new"))
                }
            }
        }
        #expect(count.value == 1)
    }

    @Test("A failure reaches the caller, and the next caller tries again")
    func failing() async throws {
        // Without a credential none of the batch can be sent.
        await #expect(throws: DeliveryFailure(verdict: failure.verdict, isForAll: true)) {
            try await shared.credential(now: Accounts.start) { () async throws(DeliveryFailure) in throw failure }
        }
        let credential = try await shared.credential(now: Accounts.start) { () async throws(DeliveryFailure) in
            Self.credential("a")
        }
        #expect(credential == Self.credential("a"))
    }

    @Test("An early renewal does not delay callers, because the old credential is still valid")
    func early() async throws {
        let old = try await shared.credential(now: Accounts.start) { () async throws(DeliveryFailure) in Self.credential("old") }
        let late = Accounts.start + .seconds(55)
        let renewed = try await shared.credential(now: late) { () async throws(DeliveryFailure) in
            let other = try await shared.credential(now: late) { () async throws(DeliveryFailure) in throw failure }
            #expect(other == old)
            return Self.credential("new")
        }
        #expect(renewed == Self.credential("new"))
    }

    @Test("A failed renewal is retried after a delay, or at once if the old credential has expired")
    func failedRenewal() async throws {
        let count = Counter()
        func use(after seconds: Int64) async throws(DeliveryFailure) -> Credential {
            try await shared.credential(now: Accounts.start + .seconds(seconds)) { () async throws(DeliveryFailure) in
                count.increment()
                if count.value > 1 { throw failure }
                return Credential(
                    token: Secret("old"), issued: Accounts.start, renewal: Accounts.start + .seconds(100),
                    expires: Accounts.start + .seconds(200))
            }
        }
        let old = try await use(after: 0)
        for (seconds, attempts) in [(100, 2), (110, 2), (129, 2), (130, 3), (159, 3), (160, 4)] as [(Int64, Int)] {
            #expect(try await use(after: seconds) == old)
            #expect(count.value == attempts, "after \(seconds) seconds")
        }
        for attempts in [5, 6] {
            await #expect(throws: DeliveryFailure.self) { try await use(after: 200) }
            #expect(count.value == attempts)
        }
    }

    @Test("Cancelling the caller that makes the request does not affect the others")
    func cancelled() async {
        let leader = Task {
            try? await shared.credential(now: Accounts.start) { () async throws(DeliveryFailure) in
                while !Task.isCancelled { await Task.yield() }
                await Self.pause()
                throw failure
            }
        }
        await Self.pause()
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    let credential = try? await shared.credential(now: Accounts.start) {
                        () async throws(DeliveryFailure) in Self.credential("a")
                    }
                    #expect(credential == Self.credential("a"))
                }
            }
            group.addTask {
                await Self.pause()
                leader.cancel()
            }
        }
        _ = await leader.value
    }
}

private final class Counter: Sendable {
    private let state = Mutex(0)

    var value: Int { state.withLock(\.self) }

    func increment() { state.withLock { $0 += 1 } }
}
