import PushCore
import Support
import Testing

@testable import Bindings

/// When a hook that fails is left alone, and what is heard of it then.
@Suite struct HookBreakerTests {
    private let breaker = HookBreaker()
    private let dawn = HubBench.dawn

    /// Open until half a minute after dawn.
    private func open() throws {
        for _ in 1..<HookBreaker.threshold { #expect(try #require(breaker.admission(dawn)).failed(dawn) == nil) }
        #expect(try #require(breaker.admission(dawn)).failed(dawn) == .opened(until: dawn + .seconds(30)))
    }

    @Test func `after its pause it lets one call through, which decides`() throws {
        try open()
        #expect(breaker.admission(dawn + .seconds(29)) == nil)
        let later = dawn + .seconds(30)
        let probe = try #require(breaker.admission(later))
        #expect(breaker.admission(later) == nil)
        #expect(probe.failed(later) == .opened(until: later + .seconds(60)))
        let next = try #require(breaker.admission(later + .seconds(60)))
        #expect(next.succeeded() == .closed && breaker.openUntil == nil && breaker.failures == 0)
    }

    @Test func `calls that were under way before it opened do not decide for the one that tries again`() throws {
        let early = try (1...3).map { _ in try #require(breaker.admission(dawn)) }
        try open()
        let later = dawn + .seconds(30)
        let probe = try #require(breaker.admission(later))
        #expect(early[0].succeeded() == nil && early[1].failed(later) == nil)
        early[2].withdrawn()
        #expect(breaker.openUntil == dawn + .seconds(30) && breaker.admission(later) == nil)
        #expect(probe.succeeded() == .closed)
        #expect(early[1].failed(later) == nil && breaker.failures == 0)
    }

    @Test func `a probe that was not made leaves its turn to the next`() throws {
        try open()
        let later = dawn + .seconds(30)
        let probe = try #require(breaker.admission(later))
        probe.withdrawn()
        let next = try #require(breaker.admission(later))
        #expect(probe.succeeded() == nil && breaker.admission(later) == nil)
        #expect(next.succeeded() == .closed)
    }

    @Test func `a success between failures begins the count anew`() throws {
        for _ in 1..<HookBreaker.threshold { #expect(try #require(breaker.admission(dawn)).failed(dawn) == nil) }
        #expect(try #require(breaker.admission(dawn)).succeeded() == nil)
        try open()
    }
}
