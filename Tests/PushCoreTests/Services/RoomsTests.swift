import Testing

@testable import PushCore

@Suite struct RoomsTests {
    private let apns = PushService(.apns)

    @Test func `room is granted in the order of the line, and no more than there is`() async {
        var rooms = Rooms()
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

    @Test func `after a run in line it is the turn of others, until they had it or nothing is under way`() {
        var rooms = Rooms()
        _ = rooms.take(apns, limit: 2)
        var turns = [rooms.isTurnOfOthers(apns)]
        for _ in 1...2 {
            _ = rooms.wait(for: apns)
            let isGranted = rooms.grant(apns, limit: 2)
            turns += [isGranted, rooms.isTurnOfOthers(apns)]
            if turns.count == 3 {
                rooms.othersHadTurn(apns)
                turns.append(rooms.isTurnOfOthers(apns))
                rooms.giveBack(apns)
            }
        }
        rooms.giveBack(apns)
        rooms.giveBack(apns)
        turns.append(rooms.isTurnOfOthers(apns))
        #expect(turns == [false, true, true, false, true, true, false])
    }
}
