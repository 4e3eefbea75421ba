import Testing

@testable import PushCore

@Suite struct RetryPolicyTests {
    private func pauses(_ trouble: RetryPolicy.Trouble, _ attempts: ClosedRange<Int>) -> [Int64?] {
        attempts.map { RetryPolicy().pause(after: $0, trouble, asked: nil, seed: 1)?.components.seconds }
    }

    @Test func `pauses double up to a minute, and to five where the service wants fewer pushes`() {
        for trouble in [RetryPolicy.Trouble.failing, .unreachable, .unknown] {
            #expect(pauses(trouble, 1...9) == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        }
        #expect(pauses(.throttled, 1...8) == [5, 10, 20, 40, 80, 160, 300, 300])
        #expect(pauses(.failing, 1_000_000...1_000_000) == [60])
    }

    @Test func `what a service asks for is kept, but not beyond the time that a device has`() {
        let policy = RetryPolicy(window: .seconds(600))
        #expect(policy.pause(after: 1, .failing, asked: .seconds(90), seed: 1) == .seconds(90))
        #expect(policy.pause(after: 9, .failing, asked: .seconds(5), seed: 1) == .seconds(60))
        #expect(policy.pause(after: 1, .failing, asked: .seconds(600), seed: 1) == .seconds(600))
        #expect(policy.pause(after: 1, .failing, asked: .seconds(601), seed: 1) == nil)
    }

    @Test func `jitter spreads pauses and shortens none`() {
        let policy = RetryPolicy(jitter: 0.25)
        let pauses = (1...1000).compactMap { policy.pause(after: 6, .failing, asked: nil, seed: UInt64($0))?.milliseconds }
        #expect(pauses.count == 1000 && pauses.allSatisfy { (32_000..<40_000).contains($0) })
        let eighths = Dictionary(grouping: pauses) { ($0 - 32_000) / 1000 }
        #expect(eighths.count == 8 && eighths.values.allSatisfy { (80...170).contains($0.count) })
        #expect(policy.pause(after: 1, .failing, asked: nil, seed: 7) == policy.pause(after: 1, .failing, asked: nil, seed: 7))
    }

    @Test func `every verdict is final or has its kind of trouble`() {
        func transient(_ outcome: OutcomeName) -> Verdict {
            .transient(Rejection(status: 0, reason: "", explanation: "", outcome: outcome), retryAfter: nil)
        }
        #expect(RetryPolicy.Trouble(.accepted(id: nil)) == nil)
        #expect(RetryPolicy.Trouble(.rejected(Rejection(status: 400, reason: "", explanation: "", outcome: .badChannel))) == nil)
        #expect(RetryPolicy.Trouble(.unknown(reason: "")) == .unknown)
        #expect(RetryPolicy.Trouble(transient(.throttled)) == .throttled)
        #expect(RetryPolicy.Trouble(transient(.channelThrottled)) == .throttled)
        #expect(RetryPolicy.Trouble(transient(.pnsUnreachable)) == .unreachable)
        #expect(RetryPolicy.Trouble(transient(.pnsUnavailable)) == .failing)
        #expect(RetryPolicy.Trouble(transient(.pnsServerError)) == .failing)
    }
}
