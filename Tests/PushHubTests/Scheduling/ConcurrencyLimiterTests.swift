import Testing

@testable import PushHub
@testable import PushModel

@Suite struct ConcurrencyLimiterTests {
    private let apns = PushService(.apns)

    @Test func `slots are granted in the order of the queue, up to the limit`() async {
        var limiter = ConcurrencyLimiter()
        let acquired = [limiter.acquire(apns, limit: 1), limiter.acquire(apns, limit: 1)]
        let (first, firstSlot) = limiter.waitForSlot(apns)
        let (second, _) = limiter.waitForSlot(apns)
        let early = limiter.grantNext(apns, limit: 1)
        limiter.release(apns)
        let granted = [limiter.grantNext(apns, limit: 1), limiter.grantNext(apns, limit: 1)]
        for await _ in firstSlot { break }
        let isQueued = [limiter.leaveQueue(apns, first), limiter.leaveQueue(apns, second)]
        #expect(acquired == [true, false] && !early && granted == [true, false] && isQueued == [false, true])
        #expect(!limiter.hasWaiters(for: apns) && limiter.busyServiceCount == 1)
        limiter.release(apns)
        #expect(limiter.busyServiceCount == 0)
    }

    @Test func `after a slot for a waiting send, deferred sends have a turn, until one starts or nothing is in flight`() {
        var limiter = ConcurrencyLimiter()
        _ = limiter.acquire(apns, limit: 2)
        var turns = [limiter.lastSlotWentToWaiter(apns)]
        for _ in 1...2 {
            _ = limiter.waitForSlot(apns)
            let isGranted = limiter.grantNext(apns, limit: 2)
            turns += [isGranted, limiter.lastSlotWentToWaiter(apns)]
            if turns.count == 3 {
                limiter.deferredSendStarted(apns)
                turns.append(limiter.lastSlotWentToWaiter(apns))
                limiter.release(apns)
            }
        }
        limiter.release(apns)
        limiter.release(apns)
        turns.append(limiter.lastSlotWentToWaiter(apns))
        #expect(turns == [false, true, true, false, true, true, false])
    }
}
