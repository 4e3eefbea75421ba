import Delivery
import Testing

@Suite struct TortureTests {
    private static let seedsPerManner: UInt64 = 40

    @Test(arguments: TortureManner.names)
    func `every push ends once and as the service's ledger says`(name: String) async {
        for seed in 0..<Self.seedsPerManner * (name == "all" ? 6 : 1) {
            // Tests that wait for others must not wait for all seeds.
            await Task.yield()
            let faults = TortureRun(seed: seed, name: name).faults()
            if let fault = faults.first {
                Issue.record("\(name), seed \(seed): \(fault) (and \(faults.count - 1) more)")
                return
            }
        }
    }

    @Test func `the ledger sees a service that refuses what it has processed`() {
        let faults = TortureRun(seed: 1, name: "refusal") { $0.liesAboutRefusal = true }.faults()
        #expect(faults.contains { $0.contains("processed 2 times") || $0.contains("was not sent") })
    }

    @Test func `the ledger sees answers that belong to others`() {
        let faults = TortureRun(seed: 1, name: "plain") { $0.mixesIDs = true }.faults()
        #expect(faults.contains { $0.contains("got the answer of") })
    }

    @Test func `the ledger sees answers to what was never processed`() {
        let faults = TortureRun(seed: 1, name: "plain") { $0.forgets = true }.faults()
        #expect(faults.contains { $0.contains("processed 0 times") })
    }

    @Test(arguments: TortureManner.names)
    func `what goes wrong is met by each of the outcomes that it allows`(name: String) async {
        var (answered, notSent, unknown) = (0, 0, 0)
        for seed in UInt64(0)..<10 {
            await Task.yield()
            let run = TortureRun(seed: seed, name: name)
            _ = run.faults()
            answered += run.ledger.count { $0.isAnswered }
            notSent += run.ledger.count { $0.isNotSent }
            unknown += run.ledger.count { $0.isUnknown }
        }
        #expect(answered > 0)
        if ["silence", "reset", "cut", "deaf", "all"].contains(name) { #expect(unknown > 0) }
        if ["cancellation", "all"].contains(name) { #expect(notSent > 0) }
        let isHarmless = ["plain", "limit", "drop", "rejection", "big headers", "pings", "tiny window", "large bodies", "padding", "table"]
        // Whatever the service hands back finds its way; nothing is lost and nothing is left open.
        if isHarmless.contains(name) || ["refusal", "goodbye", "two goodbyes", "exhaustion", "big requests"].contains(name) {
            #expect(notSent == 0 && unknown == 0, "\(notSent) not sent, \(unknown) unknown")
        }
    }
}

extension PushOutcome {
    var isAnswered: Bool { if case .answered = self { true } else { false } }
    var isNotSent: Bool { if case .notSent = self { true } else { false } }
    var isUnknown: Bool { if case .unknown = self { true } else { false } }
}
