/// How many batches of notifications of the outbox are under way to each push service, and which notifications that are under way wait
/// for one to end. Part of an actor's state.
struct Rooms: Sendable {
    private var taken: [PushService: Int] = [:]
    private var lines: [PushService: [(number: Int, turn: AsyncStream<Void>.Continuation)]] = [:]
    /// Those at which a run in line was the last that had room.
    private var granted: Set<PushService> = []
    private var number = 0

    /// Push services to which something is under way.
    var busy: Int { taken.count }

    /// Those at which somebody waits.
    var awaited: some Sequence<PushService> { lines.keys }

    func isAwaited(_ service: PushService) -> Bool { lines[service] != nil }

    /// Whether others have the next turn at a service, where they wait for it.
    func isTurnOfOthers(_ service: PushService) -> Bool { granted.contains(service) }

    mutating func othersHadTurn(_ service: PushService) { granted.remove(service) }

    func has(_ service: PushService, limit: Int) -> Bool { taken[service, default: 0] < limit }

    /// False where there is none; else it is to be given back.
    mutating func take(_ service: PushService, limit: Int) -> Bool {
        guard has(service, limit: limit) else { return false }
        taken[service, default: 0] += 1
        return true
    }

    mutating func giveBack(_ service: PushService) {
        let left = taken[service, default: 0] - 1
        taken[service] = left > 0 ? left : nil
        if left <= 0 { granted.remove(service) }
    }

    /// Stands in line: the stream has an element when it is granted.
    mutating func wait(for service: PushService) -> (number: Int, turn: AsyncStream<Void>) {
        let (stream, turn) = AsyncStream<Void>.makeStream()
        number += 1
        lines[service, default: []].append((number, turn))
        return (number, stream)
    }

    /// Grants room to the first in line. False where there is none, or nobody waits.
    mutating func grant(_ service: PushService, limit: Int) -> Bool {
        guard let first = lines[service]?.first, take(service, limit: limit) else { return false }
        granted.insert(service)
        leave(service, first.number)
        first.turn.yield()
        return true
    }

    /// False where it was granted already.
    @discardableResult
    mutating func leave(_ service: PushService, _ number: Int) -> Bool {
        guard let index = lines[service]?.firstIndex(where: { $0.number == number }) else { return false }
        lines[service]?.remove(at: index)
        if lines[service]?.isEmpty == true { lines[service] = nil }
        return true
    }
}
