import Testing

@testable import Delivery

@Suite struct AdmissionGateTests {
    @Test func `waiters are admitted in first-in, first-out order when there is room`() async {
        let gate = AdmissionGate(capacity: 10)
        #expect(await gate.enter(6))
        // An immediate task waits at the gate before the next one starts.
        let large = Task.immediate { await gate.enter(10) }
        let small = Task.immediate { await gate.enter(3) }
        gate.leave(6)
        #expect(await large.value)
        gate.leave(10)
        #expect(await small.value)
    }

    @Test func `a batch larger than the limit is admitted alone`() async {
        let gate = AdmissionGate(capacity: 10)
        #expect(await gate.enter(1_000))
        let next = Task { await gate.enter(1) }
        gate.leave(1_000)
        #expect(await next.value)
    }

    @Test func `a cancelled waiter is not admitted and does not block others`() async {
        let gate = AdmissionGate(capacity: 10)
        #expect(await gate.enter(8))
        let waiting = Task { await gate.enter(9) }
        waiting.cancel()
        #expect(await waiting.value == false)
        #expect(await gate.enter(2))
    }
}
