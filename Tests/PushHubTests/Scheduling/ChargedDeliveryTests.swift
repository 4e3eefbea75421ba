import Support
import Synchronization
import Testing

@testable import PushHub
@testable import PushModel

/// Deliveries are charged to the run that sent the notification, while it lasts.
@Suite struct ChargedDeliveryTests {
    /// The account that each delivery was charged to.
    private final class Payers: Sendable {
        private let all = Mutex<[String: ObjectIdentifier?]>([:])

        func note(_ id: String) {
            let account = ChargedWork.account.map { ObjectIdentifier($0) }
            all.withLock { $0[id] = account }
        }

        func clear() { all.withLock { $0 = [:] } }

        subscript(id: String) -> ObjectIdentifier?? { all.withLock { $0[id] } }
    }

    private let bench: HubBench
    private let payers = Payers()

    init() throws { bench = try HubBench() }

    /// A hub whose deliveries record which account they are charged to.
    private func hub() async throws -> NotificationHub {
        for number in 1...3 { try await bench.register(.phone(number), tags: ["t"]) }
        bench.connector.during { [payers] batch in payers.note(batch.notificationID) }
        return try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true)))
    }

    private func payer(of id: String) throws -> ObjectIdentifier? { try #require(payers[id]) }

    @Test func `each delivery is charged to the run that sent it`() async throws {
        let hub = try await hub()
        let runs = [CountingAccount(), CountingAccount()]
        var expected: [(id: String, payer: ObjectIdentifier?)] = []
        for number in 0..<30 {
            let account = number % 3 == 2 ? nil : runs[number % 3]
            // The caller's own account does not matter: a hub starts the deliveries of many senders.
            let accepted = try await ChargedWork.$account.withValue(runs[0]) {
                try await hub.accept(.alert("\(number)", to: "t"), account: account)
            }
            expected.append((accepted.outcome.id, account.map { ObjectIdentifier($0) }))
        }
        await bench.settle()
        for (id, payer) in expected { #expect(try self.payer(of: id) == payer, "\(id)") }
        withExtendedLifetime(runs) {}
    }

    @Test func `an accepted send is delivered even if its run has spent a budget`() async throws {
        let hub = try await hub()
        let run = CountingAccount()
        let id = try await ChargedWork.$run.withValue(run) { try await hub.accept(.alert(to: "t"), account: run).outcome.id }
        run.spend()
        await bench.settle()
        #expect(try await hub.outcome(of: id).sent == 3)
        #expect(run.memory.peak == 0)
    }

    @Test func `a run that has spent a budget sends nothing more`() async throws {
        let hub = try await hub()
        let run = CountingAccount()
        run.spend()
        await ChargedWork.$run.withValue(run) {
            await #expect(throws: PushError.self) { try await hub.accept(.alert(to: "t"), account: run) }
            await #expect(throws: PushError.self) { try await hub.send(.alert(to: "t")) }
        }
        await bench.settle()
        #expect(try await hub.notifications(before: nil, limit: 9).isEmpty)
        // It says nothing about other senders.
        #expect(try await hub.send(.alert(to: "t")).sent == 3)
    }

    @Test func `a run is charged for the memory of a send that it waits for`() async throws {
        _ = try await hub()
        let (run, hub) = (CountingAccount(), try await bench.reopened())
        let inUse = Mutex<[Int]>([])
        bench.connector.during { _ in inUse.withLock { $0.append(run.memory.now) } }
        _ = try await ChargedWork.$run.withValue(run) { try await hub.send(.alert(to: "t")) }
        #expect(inUse.withLock { $0 }.allSatisfy { $0 >= 3 * 1_000 } && run.memory.now == 0)
        #expect(run.memory.peak < 3 * 4_000)
    }

    @Test func `a send whose run spends a budget on the way ends without results of single devices`() async throws {
        _ = try await hub()
        let (run, hub) = (CountingAccount(), try await bench.reopened())
        bench.connector.script(.phone(1), .transient(.tooMany, retryAfter: .seconds(60)))
        bench.connector.during { _ in run.spend() }
        let outcome = try await bench.passingTime {
            try await ChargedWork.$run.withValue(run) { try await hub.send(.alert(to: "t")) }
        }
        #expect(outcome.state == .abandoned && outcome.sent == 2 && outcome.total == 2, "\(outcome)")
        #expect(try await hub.outcome(of: outcome.id).state == .abandoned)
        #expect(run.memory.now == 0)
    }

    @Test func `a scheduled send is charged while its run lasts`() async throws {
        let hub = try await hub()
        let lasting = CountingAccount()
        var ended: CountingAccount? = CountingAccount()
        let time = bench.clock.now + .seconds(60)
        let first = try await hub.accept(.alert(to: "t"), at: time, account: lasting).outcome.id
        let second = try await hub.accept(.alert(to: "t"), at: time, account: ended).outcome.id
        ended = nil
        bench.advance(by: .seconds(60))
        await bench.settle()
        #expect(try payer(of: first) == ObjectIdentifier(lasting))
        #expect(try payer(of: second) == nil)
        withExtendedLifetime(lasting) {}
    }

    @Test func `a deferred send is still charged when it resumes`() async throws {
        let hub = try await hub()
        let account = CountingAccount()
        for number in 1...3 {
            bench.connector.script(.phone(number), .transient(.tooMany, retryAfter: .seconds(600)), .accepted(id: "late"))
        }
        let id = try await hub.accept(.alert(to: "t"), account: account).outcome.id
        try await until { await hub.backlog == 1 }
        payers.clear()
        await bench.settle()
        #expect(try payer(of: id) == ObjectIdentifier(account))
        #expect(try await hub.outcome(of: id).sent == 3)
        withExtendedLifetime(account) {}
    }

    @Test(arguments: 1...20)
    func `accounts of ended runs are forgotten`(seed: UInt64) {
        var numbers = SplitMix64(seed: seed)
        var accounts = SendAccounts()
        var live: [Int64: CountingAccount] = [:]
        for sequence in 1...Int64(6_000) {
            let account = CountingAccount()
            accounts[sequence] = account
            if Int.random(in: 0..<40, using: &numbers) == 0 { live[sequence] = account }
            if Int.random(in: 0..<80, using: &numbers) == 0, let ended = live.keys.min() {
                live[ended] = nil
                accounts[ended] = nil
            }
            #expect(accounts.count <= 1_024 + 2 * live.count)
        }
        for (sequence, account) in live { #expect(accounts[sequence] === account) }
    }
}
