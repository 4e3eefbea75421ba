import PushModel
import Support
import Testing

/// Every notification reaches a final state, whatever happens.
@Suite struct DeliverySimulationTests {
    private static let parts: UInt64 = 10

    private func told(_ seed: UInt64, hasHooks: Bool = false) async -> (flaws: [String], history: EventHistory.Contents) {
        let simulation = DeliverySimulation(seed: seed, hasHooks: hasHooks)
        return (await simulation.run(), simulation.world.history.contents)
    }

    @Test(arguments: 0..<Self.parts)
    func `every accepted notification ends, every device has one outcome, and no device gets it again`(_ part: UInt64) async {
        for seed in stride(from: part, to: 300, by: Int(Self.parts)) {
            let flaws = await told(seed).flaws
            #expect(flaws.isEmpty, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<Self.parts)
    func `the same holds if hooks skip and defer devices`(_ part: UInt64) async {
        for seed in stride(from: part, to: 200, by: Int(Self.parts)) {
            let flaws = await told(seed, hasHooks: true).flaws
            #expect(flaws.isEmpty, "seed \(seed)")
        }
    }

    @Test func `in those simulations hooks make many decisions, and most ends are reported`() async {
        var (held, skipped, cancelled, crashes, notifications, told) = (0, 0, 0, 0, 0, 0)
        for seed in UInt64(0)..<40 {
            let history = await self.told(seed, hasHooks: true).history
            held += history.held
            skipped += history.skipped
            cancelled += history.cancelled.count
            crashes += history.crashes
            notifications += Set(history.keeps.lazy.filter(\.isFinal).map(\.sequence)).count
            told += history.ends.count
        }
        #expect(held > 1000)
        #expect(skipped > 1000)
        #expect(cancelled > 15)
        #expect(crashes > 100)
        // An end stored just before a crash is not reported.
        #expect(told * 10 > notifications * 9)
    }

    @Test func `in these simulations processes crash, circuits open, tokens become invalid and pushes are repeated`() async {
        var (sends, crashes, trips, invalidHandles, repeated, cancelled, ends) = (0, 0, 0, 0, 0, 0, Set<String>())
        for seed in UInt64(0)..<40 {
            let history = await told(seed).history
            sends += history.sends.count
            crashes += history.crashes
            trips += history.trips
            invalidHandles += history.sends.count { $0.verdict?.isInvalidHandle == true }
            cancelled += history.cancelled.count
            let taken = history.sends.filter { $0.verdict?.isAcceptance == true }
            repeated += taken.count - Set(taken.map { "\($0.notification) \($0.handle.text)" }).count
            ends.formUnion(history.keeps.flatMap { $0.devices.map(\.outcome.rawValue) })
        }
        #expect(sends > 3000)
        #expect(crashes > 100)
        #expect(trips > 150)
        #expect(invalidHandles > 30)
        #expect(repeated > 50)
        #expect(cancelled > 15)
        #expect(ends.count > 7)
    }

    @Test func `the same seed gives the same simulation`() async {
        for seed in UInt64(0)..<5 {
            let simulations = [await told(seed).history, await told(seed).history]
            #expect(simulations[0].events == simulations[1].events && simulations[0].crashes == simulations[1].crashes)
            #expect(simulations[0].sends.map(\.handle) == simulations[1].sends.map(\.handle))
            #expect(simulations[0].keeps.map(\.devices) == simulations[1].keeps.map(\.devices))
        }
    }

    @Test(arguments: FaultyDisk.Fault.allCases)
    func `a disk that breaks its contract is detected`(_ fault: FaultyDisk.Fault) async {
        var found = 0
        for seed in UInt64(0)..<12 where !(await DeliverySimulation(seed: seed, disk: { FaultyDisk($0, fault) }).run()).isEmpty {
            found += 1
        }
        #expect(found > 2)
    }
}
