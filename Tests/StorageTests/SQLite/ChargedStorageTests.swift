import PushModel
import Support
import Testing

@testable import Storage

/// The store's threads charge their work to the run for which the caller works.
@Suite struct ChargedStorageTests {
    @Test func `a change and a read are charged to the caller's run`() async throws {
        let bench = try await Bench()
        let account = CountingAccount()
        try await ChargedWork.$account.withValue(account) { _ = try await bench.store.accept(try Samples.notification(1)) }
        // The change, and its part of the commit.
        #expect(account.pieces == 2)
        try await ChargedWork.$account.withValue(account) { _ = try await bench.store.unfinished(after: 0, limit: 9) }
        #expect(account.pieces == 3)
    }

    @Test func `work for no run is charged to none, even in a shared transaction`() async throws {
        let bench = try await Bench()
        let (store, account, other) = (bench.store, CountingAccount(), CountingAccount())
        for number in 1...8 {
            async let charged: Void = ChargedWork.$account.withValue(account) {
                _ = try await store.accept(try Samples.notification(Int64(3 * number)))
            }
            async let uncharged = store.accept(try Samples.notification(Int64(3 * number + 1)))
            async let rest: Void = ChargedWork.$account.withValue(other) {
                _ = try await store.accept(try Samples.notification(Int64(3 * number + 2)))
            }
            _ = try await (charged, uncharged, rest)
        }
        // Eight changes each; a commit for both is charged to both.
        #expect(account.pieces <= 16 && account.pieces >= 8)
        #expect(other.pieces <= 16 && other.pieces >= 8)
    }

    @Test func `a change that fails is charged too`() async throws {
        let bench = try await Bench()
        let account = CountingAccount()
        let database = bench.storage.database
        await #expect(throws: PushError.self) {
            try await ChargedWork.$account.withValue(account) {
                try await database.write { _ -> Void in throw PushError("test", "no") }
            }
        }
        #expect(account.pieces == 2)
    }
}
