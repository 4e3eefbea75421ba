import Testing

@testable import PushHub
@testable import PushModel

@Suite struct ConcurrencyLimiterTests {
    private let apns = PushService(.apns)

    @Test func `slots are granted in the order of the queue, up to the limit`() async {
        var rooms = ConcurrencyLimiter()
        let taken = [rooms.take(apns, limit: 1), rooms.take(apns, limit: 1)]
        let (first, firstTurn) = rooms.wait(for: apns)
        let (second, _) = rooms.wait(for: apns)
        let early = rooms.grant(apns, limit: 1)
        rooms.giveBack(apns)
        let granted = [rooms.grant(apns, limit: 1), rooms.grant(apns, limit: 1)]
        for await _ in firstTurn { break }
        let isInLine = [rooms.leave(apns, first), rooms.leave(apns, second)]
        #expect(taken == [true, false] && !early && granted == [true, false] && isInLine == [false, true])
        #expect(!rooms.isAwaited(apns) && rooms.busy == 1)
        rooms.giveBack(apns)
        #expect(rooms.busy == 0)
    }

    @Test func `after a slot for a waiting send, deferred sends have a turn, until one starts or nothing is in flight`() {
        var rooms = ConcurrencyLimiter()
        _ = rooms.take(apns, limit: 2)
        var turns = [rooms.lastSlotWentToWaiter(apns)]
        for _ in 1...2 {
            _ = rooms.wait(for: apns)
            let isGranted = rooms.grant(apns, limit: 2)
            turns += [isGranted, rooms.lastSlotWentToWaiter(apns)]
            if turns.count == 3 {
                rooms.deferredSendStarted(apns)
                turns.append(rooms.lastSlotWentToWaiter(apns))
                rooms.giveBack(apns)
            }
        }
        rooms.giveBack(apns)
        rooms.giveBack(apns)
        turns.append(rooms.lastSlotWentToWaiter(apns))
        #expect(turns == [false, true, true, false, true, true, false])
    }
}
