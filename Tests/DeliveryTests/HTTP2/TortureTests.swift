import Delivery
import Testing

@Suite struct TortureTests {
    private static let seedsPerBehaviour: UInt64 = 40

    @Test(arguments: TortureBehaviour.names)
    func `every push has exactly one outcome, which agrees with the service's ledger`(name: String) async {
        for seed in 0..<Self.seedsPerBehaviour * (name == "all" ? 6 : 1) {
            // Lets waiting tests continue between seeds.
            await Task.yield()
            let faults = TortureRun(seed: seed, name: name).faults()
            if let fault = faults.first {
                Issue.record("\(name), seed \(seed): \(fault) (and \(faults.count - 1) more)")
                return
            }
        }
    }

    @Test func `the ledger detects a service that refuses what it has processed`() {
        let faults = TortureRun(seed: 1, name: "refusal") { $0.liesAboutRefusal = true }.faults()
        #expect(faults.contains { $0.contains("processed 2 times") || $0.contains("was not sent") })
    }

    @Test func `the ledger detects answers for other requests`() {
        let faults = TortureRun(seed: 1, name: "plain") { $0.mixesIDs = true }.faults()
        #expect(faults.contains { $0.contains("got the answer of") })
    }

    @Test func `the ledger detects answers to requests that were never processed`() {
        let faults = TortureRun(seed: 1, name: "plain") { $0.forgets = true }.faults()
        #expect(faults.contains { $0.contains("processed 0 times") })
    }

    @Test(arguments: TortureBehaviour.names)
    func `every misbehaviour leads to each of its possible outcomes`(name: String) async {
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
        // Requests that the service returns are sent again: nothing is lost and nothing stays open.
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
