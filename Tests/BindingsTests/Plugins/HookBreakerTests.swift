import PushModel
import Support
import Testing

@testable import Bindings

/// When the circuit breaker of a hook opens and closes, and what it reports.
@Suite struct HookBreakerTests {
    private let breaker = HookCircuitBreaker()
    private let startTime = HubBench.startTime

    /// Opens the breaker until 30 seconds after dawn.
    private func open() throws {
        for _ in 1..<HookCircuitBreaker.threshold { #expect(try #require(breaker.admission(startTime)).failed(startTime) == nil) }
        #expect(try #require(breaker.admission(startTime)).failed(startTime) == .opened(until: startTime + .seconds(30)))
    }

    @Test func `after the pause one probe call is admitted, and its result decides`() throws {
        try open()
        #expect(breaker.admission(startTime + .seconds(29)) == nil)
        let later = startTime + .seconds(30)
        let probe = try #require(breaker.admission(later))
        #expect(breaker.admission(later) == nil)
        #expect(probe.failed(later) == .opened(until: later + .seconds(60)))
        let next = try #require(breaker.admission(later + .seconds(60)))
        #expect(next.succeeded() == .closed && breaker.openUntil == nil && breaker.failures == 0)
    }

    @Test func `calls that started before the breaker opened do not affect the probe`() throws {
        let early = try (1...3).map { _ in try #require(breaker.admission(startTime)) }
        try open()
        let later = startTime + .seconds(30)
        let probe = try #require(breaker.admission(later))
        #expect(early[0].succeeded() == nil && early[1].failed(later) == nil)
        early[2].withdrawn()
        #expect(breaker.openUntil == startTime + .seconds(30) && breaker.admission(later) == nil)
        #expect(probe.succeeded() == .closed)
        #expect(early[1].failed(later) == nil && breaker.failures == 0)
    }

    @Test func `a withdrawn probe lets the next call be the probe`() throws {
        try open()
        let later = startTime + .seconds(30)
        let probe = try #require(breaker.admission(later))
        probe.withdrawn()
        let next = try #require(breaker.admission(later))
        #expect(probe.succeeded() == nil && breaker.admission(later) == nil)
        #expect(next.succeeded() == .closed)
    }

    @Test func `a success resets the count of failures`() throws {
        for _ in 1..<HookCircuitBreaker.threshold { #expect(try #require(breaker.admission(startTime)).failed(startTime) == nil) }
        #expect(try #require(breaker.admission(startTime)).succeeded() == nil)
        try open()
    }
}
