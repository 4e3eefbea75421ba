import PushModel
import Support
import Testing

/// Every notification reaches a final state, whatever happens.
@Suite struct StateMachineTests {
    private static let parts: UInt64 = 10

    private func told(_ seed: UInt64, hasHooks: Bool = false) async -> (flaws: [String], chronicle: Chronicle.Contents) {
        let story = DeliveryStory(seed: seed, hasHooks: hasHooks)
        return (await story.tell(), story.world.chronicle.contents)
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

    @Test func `in those stories hooks make many decisions, and most ends are reported`() async {
        var (held, skipped, cancelled, crashes, notifications, told) = (0, 0, 0, 0, 0, 0)
        for seed in UInt64(0)..<40 {
            let chronicle = await self.told(seed, hasHooks: true).chronicle
            held += chronicle.held
            skipped += chronicle.skipped
            cancelled += chronicle.cancelled.count
            crashes += chronicle.crashes
            notifications += Set(chronicle.keeps.lazy.filter(\.isFinal).map(\.sequence)).count
            told += chronicle.ends.count
        }
        #expect(held > 1000)
        #expect(skipped > 1000)
        #expect(cancelled > 15)
        #expect(crashes > 100)
        // An end stored just before a crash is not reported.
        #expect(told * 10 > notifications * 9)
    }

    @Test func `in these stories processes crash, circuits open, tokens become invalid and pushes are repeated`() async {
        var (sends, crashes, trips, deaths, repeated, cancelled, ends) = (0, 0, 0, 0, 0, 0, Set<String>())
        for seed in UInt64(0)..<40 {
            let chronicle = await told(seed).chronicle
            sends += chronicle.sends.count
            crashes += chronicle.crashes
            trips += chronicle.trips
            deaths += chronicle.sends.count { $0.verdict?.isDeath == true }
            cancelled += chronicle.cancelled.count
            let taken = chronicle.sends.filter { $0.verdict?.isAcceptance == true }
            repeated += taken.count - Set(taken.map { "\($0.notification) \($0.handle.text)" }).count
            ends.formUnion(chronicle.keeps.flatMap { $0.devices.map(\.outcome.rawValue) })
        }
        #expect(sends > 3000)
        #expect(crashes > 100)
        #expect(trips > 150)
        #expect(deaths > 30)
        #expect(repeated > 50)
        #expect(cancelled > 15)
        #expect(ends.count > 7)
    }

    @Test func `the same seed gives the same story`() async {
        for seed in UInt64(0)..<5 {
            let stories = [await told(seed).chronicle, await told(seed).chronicle]
            #expect(stories[0].events == stories[1].events && stories[0].crashes == stories[1].crashes)
            #expect(stories[0].sends.map(\.handle) == stories[1].sends.map(\.handle))
            #expect(stories[0].keeps.map(\.devices) == stories[1].keeps.map(\.devices))
        }
    }

    @Test(arguments: LyingDisk.Lie.allCases)
    func `a disk that breaks its contract is detected`(_ lie: LyingDisk.Lie) async {
        var found = 0
        for seed in UInt64(0)..<12 where !(await DeliveryStory(seed: seed, disk: { LyingDisk($0, lie) }).tell()).isEmpty { found += 1 }
        #expect(found > 2)
    }
}
