import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct CircuitBreakerTests {
    private let breaker = CircuitBreaker()
    private let startTime = HubBench.startTime
    private let busy = Verdict.transient(.busy, retryAfter: nil)

    @Test func `a few failures do not open it, and an answer restarts the count`() {
        #expect(breaker.note(Array(repeating: busy, count: 19), now: startTime) == nil)
        #expect(breaker.note([.rejected(.invalidHandle())], now: startTime) == nil)
        #expect(breaker.note(Array(repeating: busy, count: 19), now: startTime) == nil)
        #expect(breaker.admission(startTime) == .all)
    }

    @Test func `only failures after the last answer of a batch count`() {
        #expect(breaker.note(Array(repeating: busy, count: 30) + [.accepted(id: nil)], now: startTime) == nil)
        #expect(breaker.note([.accepted(id: nil)] + Array(repeating: busy, count: 19), now: startTime) == nil)
        #expect(breaker.note([busy], now: startTime) == .opened(until: startTime + .seconds(5)))
    }

    @Test func `a batch that is lost with its connection counts as five failures, and several in a row open it`() {
        let lost = Array(repeating: Verdict.unknown(reason: "reset"), count: 500)
        for _ in 1...5 {
            for _ in 1...3 { #expect(breaker.note(lost, now: startTime) == nil) }
            #expect(breaker.note([.accepted(id: nil)], now: startTime) == nil)
        }
        for _ in 1...3 { #expect(breaker.note(lost, now: startTime) == nil) }
        #expect(breaker.note(lost, now: startTime) == .opened(until: startTime + .seconds(5)))
    }

    @Test func `an answer that there are too many pushes is not a failure`() {
        let throttled = Rejection(status: 429, reason: "TooManyRequests", explanation: "", outcome: .throttled)
        for _ in 1...3 {
            #expect(breaker.note(Array(repeating: .transient(throttled, retryAfter: nil), count: 20), now: startTime) == nil)
        }
    }

    @Test func `a blocked credential opens it at once, and is reported until the service answers`() {
        let blocked = Verdict.transient(.blocked, retryAfter: .seconds(1200))
        let block = CredentialBlock(reason: "TooManyProviderTokenUpdates", explanation: "too many tokens")
        #expect(breaker.note([.accepted(id: nil)], now: startTime) == nil)
        #expect(breaker.note([blocked], now: startTime) == .blocked(block, until: startTime + .seconds(5)))
        #expect(breaker.admission(startTime) == .wait(until: startTime + .seconds(5)) && breaker.block == block)
        // Verdicts of batches that were in flight when it opened.
        #expect(breaker.note([blocked, blocked], now: startTime) == nil)
        #expect(breaker.note([blocked], now: startTime + .seconds(5)) == .blocked(block, until: startTime + .seconds(15)))
        #expect(breaker.note([busy], now: startTime + .seconds(15)) == .opened(until: startTime + .seconds(35)) && breaker.block == nil)
        #expect(breaker.note([.accepted(id: nil)], now: startTime + .seconds(35)) == .closed)
        #expect(breaker.admission(startTime + .seconds(35)) == .all && breaker.block == nil)
    }

    @Test func `it stays closed if the same batch has answers for other devices`() {
        let blocked = Verdict.transient(.blocked, retryAfter: nil)
        #expect(breaker.note([blocked, .accepted(id: nil)], now: startTime) == nil)
        #expect(breaker.note([blocked, .rejected(.invalidHandle())], now: startTime) == nil)
        #expect(breaker.admission(startTime) == .all && breaker.block == nil)
    }

    @Test func `while open, it admits one probe at a time, after delays that grow to a minute`() {
        var now = startTime
        var pauses: [Int64] = []
        #expect(breaker.note(Array(repeating: busy, count: 20), now: now) == .opened(until: now + .seconds(5)))
        for _ in 1...6 {
            guard case .wait(let until) = breaker.admission(now) else { return #expect(Bool(false), "it is closed") }
            pauses.append((until - now).components.seconds)
            // A verdict of a batch that was in flight when it opened.
            #expect(breaker.note([busy], now: now) == nil)
            now = until
            #expect(breaker.admission(now) == .probe)
            _ = breaker.note([busy], now: now)
        }
        #expect(pauses == [5, 10, 20, 40, 60, 60])
    }

    @Test func `a successful probe closes it, and the next delay is short again`() {
        let failures = Array(repeating: busy, count: 20)
        _ = breaker.note(failures, now: startTime)
        _ = breaker.note([busy], now: startTime + .seconds(5))
        #expect(breaker.note([.accepted(id: nil)], now: startTime + .seconds(15)) == .closed)
        #expect(breaker.admission(startTime + .seconds(15)) == .all)
        #expect(breaker.note(failures, now: startTime + .seconds(16)) == .opened(until: startTime + .seconds(21)))
    }
}
