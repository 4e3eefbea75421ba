import Bindings
import Logging
import Lua
import PushModel
import Support
import Synchronization
import Testing

@testable import PushHub
@testable import PushServer

/// A run of a server's flow is charged for what other threads do for it.
@Suite struct ChargedFlowTests {
    private final class Pieces: Sendable {
        private let all = Atomic(0)

        func add() { all.wrappingAdd(1, ordering: .relaxed) }

        var count: Int { all.load(ordering: .relaxed) }
    }

    /// Accepts every push at once, and counts devices.
    private final class Service: Connector {
        let platforms: Set<Platform> = [.apns]
        private let count = Atomic(0)

        var devices: Int { count.load(ordering: .relaxed) }

        func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
            count.wrappingAdd(batch.handles.count, ordering: .relaxed)
            return batch.handles.map { _ in .accepted(id: nil) }
        }
    }

    @Test(arguments: 1...12)
    func `a spent budget admits no further send, and exceeds its limit by the sends in progress at most`(seed: UInt64) async throws {
        var numbers = SplitMix64(seed: seed)
        let (devices, tasks) = (Int.random(in: 1...20, using: &numbers), Int.random(in: 1...6, using: &numbers))
        let cost = ConnectionPath.lab.cpuTime(of: .apns)
        let budget = cost * Int.random(in: 0...400, using: &numbers)
        let bench = try HubBench()
        for number in 1...devices { try await bench.register(.phone(number), tags: ["t"]) }
        let service = Service()
        let connector = WatchedConnector(
            base: service, hub: "hub", outages: WatchedConnector.Outages(), log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            path: .lab)
        let hub = NotificationHub(
            environment: bench.environment, connectors: [connector], store: bench.store,
            loaded: try await bench.store.load(into: HubLoader()),
            settings: HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true)))
        try await hub.resume()
        let account = RunAccount(RunAccount.Limits(cpu: .nanoseconds(budget)))
        let flow = FlowHub(hub, run: "r-1", nil, account: account)
        let sends = Pieces()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    // As a binding does before each call of a script.
                    while (try? account.checkTime()) != nil {
                        sends.add()
                        _ = try? await flow.send(.alert(to: "t"))
                    }
                }
            }
        }
        #expect(account.isSpent && account.spent == .cpu)
        #expect(account.used(.cpu) == cost * service.devices)
        #expect(account.used(.cpu) > budget)
        #expect(account.used(.cpu) <= budget + tasks * devices * cost)
        #expect(service.devices == sends.count * devices)
        #expect(throws: LuaError.self) { try account.checkTime() }
    }
}
