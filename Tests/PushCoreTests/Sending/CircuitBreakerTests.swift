import Support
import Testing

@testable import PushCore

@Suite struct CircuitBreakerTests {
    private let breaker = CircuitBreaker()
    private let dawn = HubBench.dawn
    private let busy = Verdict.transient(.busy, retryAfter: nil)

    @Test func `a few failures do not open it, and an answer begins the count anew`() {
        #expect(breaker.note(Array(repeating: busy, count: 19), now: dawn) == nil)
        #expect(breaker.note([.rejected(.dead())], now: dawn) == nil)
        #expect(breaker.note(Array(repeating: busy, count: 19), now: dawn) == nil)
        #expect(breaker.admission(dawn) == .all)
    }

    @Test func `only failures after the last answer of a batch count`() {
        #expect(breaker.note(Array(repeating: busy, count: 30) + [.accepted(id: nil)], now: dawn) == nil)
        #expect(breaker.note([.accepted(id: nil)] + Array(repeating: busy, count: 19), now: dawn) == nil)
        #expect(breaker.note([busy], now: dawn) == .opened(until: dawn + .seconds(5)))
    }

    @Test func `a batch that is lost with its connection counts for five, and some in a row open it`() {
        let lost = Array(repeating: Verdict.unknown(reason: "reset"), count: 500)
        for _ in 1...5 {
            for _ in 1...3 { #expect(breaker.note(lost, now: dawn) == nil) }
            #expect(breaker.note([.accepted(id: nil)], now: dawn) == nil)
        }
        for _ in 1...3 { #expect(breaker.note(lost, now: dawn) == nil) }
        #expect(breaker.note(lost, now: dawn) == .opened(until: dawn + .seconds(5)))
    }

    @Test func `that there are too many pushes is an answer`() {
        let throttled = Rejection(status: 429, reason: "TooManyRequests", explanation: "", outcome: .throttled)
        for _ in 1...3 {
            #expect(breaker.note(Array(repeating: .transient(throttled, retryAfter: nil), count: 20), now: dawn) == nil)
        }
    }

    @Test func `a refusal of the credential opens it at once, and says what the service says until it answers`() {
        let blocked = Verdict.transient(.blocked, retryAfter: .seconds(1200))
        let block = CredentialBlock(reason: "TooManyProviderTokenUpdates", explanation: "too many tokens")
        #expect(breaker.note([.accepted(id: nil)], now: dawn) == nil)
        #expect(breaker.note([blocked], now: dawn) == .blocked(block, until: dawn + .seconds(5)))
        #expect(breaker.admission(dawn) == .wait(until: dawn + .seconds(5)) && breaker.block == block)
        // Of what was under way when it opened.
        #expect(breaker.note([blocked, blocked], now: dawn) == nil)
        #expect(breaker.note([blocked], now: dawn + .seconds(5)) == .blocked(block, until: dawn + .seconds(15)))
        #expect(breaker.note([busy], now: dawn + .seconds(15)) == .opened(until: dawn + .seconds(35)) && breaker.block == nil)
        #expect(breaker.note([.accepted(id: nil)], now: dawn + .seconds(35)) == .closed)
        #expect(breaker.admission(dawn + .seconds(35)) == .all && breaker.block == nil)
    }

    @Test func `where devices were answered after such a refusal, it stays closed`() {
        let blocked = Verdict.transient(.blocked, retryAfter: nil)
        #expect(breaker.note([blocked, .accepted(id: nil)], now: dawn) == nil)
        #expect(breaker.note([blocked, .rejected(.dead())], now: dawn) == nil)
        #expect(breaker.admission(dawn) == .all && breaker.block == nil)
    }

    @Test func `open, it lets one push at a time try, with longer pauses up to a minute`() {
        var now = dawn
        var pauses: [Int64] = []
        #expect(breaker.note(Array(repeating: busy, count: 20), now: now) == .opened(until: now + .seconds(5)))
        for _ in 1...6 {
            guard case .wait(let until) = breaker.admission(now) else { return #expect(Bool(false), "it is closed") }
            pauses.append((until - now).components.seconds)
            // Of what was under way when it opened.
            #expect(breaker.note([busy], now: now) == nil)
            now = until
            #expect(breaker.admission(now) == .probe)
            _ = breaker.note([busy], now: now)
        }
        #expect(pauses == [5, 10, 20, 40, 60, 60])
    }

    @Test func `an answer to the push that tries closes it, and the next pause is a short one again`() {
        let failures = Array(repeating: busy, count: 20)
        _ = breaker.note(failures, now: dawn)
        _ = breaker.note([busy], now: dawn + .seconds(5))
        #expect(breaker.note([.accepted(id: nil)], now: dawn + .seconds(15)) == .closed)
        #expect(breaker.admission(dawn + .seconds(15)) == .all)
        #expect(breaker.note(failures, now: dawn + .seconds(16)) == .opened(until: dawn + .seconds(21)))
    }
}
