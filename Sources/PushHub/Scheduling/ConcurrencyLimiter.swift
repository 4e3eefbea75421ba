import PushModel

/// Limits how many batches of a hub may be in flight to each push service, and queues the deliveries that wait for a slot.
///
/// Only deferrable deliveries use slots (`SendPipeline.DispatchPolicy`): those from the outbox to at most 10,000 devices, without a pace.
/// ``DeliveryRun`` limits the batches of one notification. docs/explanation/delivery.md has a table of all limits.
///
/// Not thread-safe: it is part of the state of the actor that owns it.
struct ConcurrencyLimiter: Sendable {
    private var taken: [PushService: Int] = [:]
    private var lines: [PushService: [(number: Int, turn: AsyncStream<Void>.Continuation)]] = [:]
    /// Services whose most recent slot went to a waiting delivery.
    private var granted: Set<PushService> = []
    private var number = 0

    /// Number of services with batches in flight.
    var busy: Int { taken.count }

    /// Services at which deliveries wait.
    var awaited: some Sequence<PushService> { lines.keys }

    func isAwaited(_ service: PushService) -> Bool { lines[service] != nil }

    /// Whether the next slot should go to a deferred send.
    func lastSlotWentToWaiter(_ service: PushService) -> Bool { granted.contains(service) }

    mutating func deferredSendStarted(_ service: PushService) { granted.remove(service) }

    func has(_ service: PushService, limit: Int) -> Bool { taken[service, default: 0] < limit }

    /// Takes a slot. Returns `false` if all are in use; otherwise the caller must release it.
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

    /// Joins the queue. The stream yields one element when a slot has been granted.
    mutating func wait(for service: PushService) -> (number: Int, turn: AsyncStream<Void>) {
        let (stream, turn) = AsyncStream<Void>.makeStream()
        number += 1
        lines[service, default: []].append((number, turn))
        return (number, stream)
    }

    /// Gives a free slot to the first in the queue. Returns `false` if no slot is free or no delivery is waiting.
    mutating func grant(_ service: PushService, limit: Int) -> Bool {
        guard let first = lines[service]?.first, take(service, limit: limit) else { return false }
        granted.insert(service)
        leave(service, first.number)
        first.turn.yield()
        return true
    }

    /// Leaves the queue. Returns `false` if the slot has been granted already.
    @discardableResult
    mutating func leave(_ service: PushService, _ number: Int) -> Bool {
        guard let index = lines[service]?.firstIndex(where: { $0.number == number }) else { return false }
        lines[service]?.remove(at: index)
        if lines[service]?.isEmpty == true { lines[service] = nil }
        return true
    }
}
