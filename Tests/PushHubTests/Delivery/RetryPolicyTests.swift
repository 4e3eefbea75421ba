import Testing

@testable import PushHub
@testable import PushModel

@Suite struct RetryPolicyTests {
    private func pauses(_ issue: RetryPolicy.FailureKind, _ attempts: ClosedRange<Int>) -> [Int64?] {
        attempts.map { RetryPolicy().pause(after: $0, issue, retryAfter: nil, seed: 1)?.components.seconds }
    }

    @Test func `delays double up to one minute, or up to five if the service asks for fewer pushes`() {
        for issue in [RetryPolicy.FailureKind.failing, .unreachable, .unknown] {
            #expect(pauses(issue, 1...9) == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        }
        #expect(pauses(.throttled, 1...8) == [5, 10, 20, 40, 80, 160, 300, 300])
        #expect(pauses(.failing, 1_000_000...1_000_000) == [60])
    }

    @Test func `a delay requested by a service is used, but not beyond the retry window`() {
        let policy = RetryPolicy(window: .seconds(600))
        #expect(policy.pause(after: 1, .failing, retryAfter: .seconds(90), seed: 1) == .seconds(90))
        #expect(policy.pause(after: 9, .failing, retryAfter: .seconds(5), seed: 1) == .seconds(60))
        #expect(policy.pause(after: 1, .failing, retryAfter: .seconds(600), seed: 1) == .seconds(600))
        #expect(policy.pause(after: 1, .failing, retryAfter: .seconds(601), seed: 1) == nil)
    }

    @Test func `jitter spreads delays and shortens none`() {
        let policy = RetryPolicy(jitter: 0.25)
        let pauses = (1...1000).compactMap { policy.pause(after: 6, .failing, retryAfter: nil, seed: UInt64($0))?.milliseconds }
        #expect(pauses.count == 1000 && pauses.allSatisfy { (32_000..<40_000).contains($0) })
        let eighths = Dictionary(grouping: pauses) { ($0 - 32_000) / 1000 }
        #expect(eighths.count == 8 && eighths.values.allSatisfy { (80...170).contains($0.count) })
        #expect(policy.pause(after: 1, .failing, retryAfter: nil, seed: 7) == policy.pause(after: 1, .failing, retryAfter: nil, seed: 7))
    }

    @Test func `every verdict is final or has a kind of failure`() {
        func transient(_ outcome: OutcomeName) -> Verdict {
            .transient(Rejection(status: 0, reason: "", explanation: "", outcome: outcome), retryAfter: nil)
        }
        #expect(RetryPolicy.FailureKind(.accepted(id: nil)) == nil)
        #expect(RetryPolicy.FailureKind(.rejected(Rejection(status: 400, reason: "", explanation: "", outcome: .badChannel))) == nil)
        #expect(RetryPolicy.FailureKind(.unknown(reason: "")) == .unknown)
        #expect(RetryPolicy.FailureKind(transient(.throttled)) == .throttled)
        #expect(RetryPolicy.FailureKind(transient(.channelThrottled)) == .throttled)
        #expect(RetryPolicy.FailureKind(transient(.pnsUnreachable)) == .unreachable)
        #expect(RetryPolicy.FailureKind(transient(.pnsUnavailable)) == .failing)
        #expect(RetryPolicy.FailureKind(transient(.pnsServerError)) == .failing)
    }
}
