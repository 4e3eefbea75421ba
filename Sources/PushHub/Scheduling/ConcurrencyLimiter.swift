import PushModel

/// Limits how many batches of a hub may be in flight to each push service, and queues the deliveries that wait for a slot.
///
/// Only deferrable deliveries use slots (`SendPipeline.DispatchPolicy`): those from the outbox to fewer than 10,000 devices, without a pace.
/// ``DeliveryRun`` limits the batches of one notification. docs/explanation/delivery.md has a table of all limits.
///
/// Not thread-safe: it is part of the state of the actor that owns it.
struct ConcurrencyLimiter: Sendable {
    /// Identifies a waiting delivery, so that it can leave the queue.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Waiter: Sendable {
        let ticket: Ticket
        let slotGranted: AsyncStream<Void>.Continuation
    }

    private var inFlight: [PushService: Int] = [:]
    private var waiters: [PushService: [Waiter]] = [:]
    /// Services whose most recent slot went to a waiting delivery.
    private var lastGrantedToWaiter: Set<PushService> = []
    private var lastTicket = 0

    /// Number of services with batches in flight.
    var busyServiceCount: Int { inFlight.count }

    /// Services at which deliveries wait.
    var servicesWithWaiters: some Sequence<PushService> { waiters.keys }

    func hasWaiters(for service: PushService) -> Bool { waiters[service] != nil }

    func hasFreeSlot(for service: PushService, limit: Int) -> Bool { inFlight[service, default: 0] < limit }

    /// Whether the next slot should go to a deferred send.
    func lastSlotWentToWaiter(_ service: PushService) -> Bool { lastGrantedToWaiter.contains(service) }

    mutating func deferredSendStarted(_ service: PushService) { lastGrantedToWaiter.remove(service) }

    /// Acquires a slot. Returns `false` if all are in use; otherwise the caller must release it.
    mutating func acquire(_ service: PushService, limit: Int) -> Bool {
        guard hasFreeSlot(for: service, limit: limit) else { return false }
        inFlight[service, default: 0] += 1
        return true
    }

    mutating func release(_ service: PushService) {
        let remaining = inFlight[service, default: 0] - 1
        inFlight[service] = remaining > 0 ? remaining : nil
        if remaining <= 0 { lastGrantedToWaiter.remove(service) }
    }

    /// Joins the queue. The stream yields one element when a slot has been granted.
    mutating func waitForSlot(_ service: PushService) -> (ticket: Ticket, slotGranted: AsyncStream<Void>) {
        let (stream, slotGranted) = AsyncStream<Void>.makeStream()
        lastTicket += 1
        let ticket = Ticket(number: lastTicket)
        waiters[service, default: []].append(Waiter(ticket: ticket, slotGranted: slotGranted))
        return (ticket, stream)
    }

    /// Gives a free slot to the first in the queue. Returns `false` if no slot is free or no delivery is waiting.
    mutating func grantNext(_ service: PushService, limit: Int) -> Bool {
        guard let first = waiters[service]?.first, acquire(service, limit: limit) else { return false }
        lastGrantedToWaiter.insert(service)
        leaveQueue(service, first.ticket)
        first.slotGranted.yield()
        return true
    }

    /// Leaves the queue. Returns `false` if the slot has been granted already.
    @discardableResult
    mutating func leaveQueue(_ service: PushService, _ ticket: Ticket) -> Bool {
        guard let index = waiters[service]?.firstIndex(where: { $0.ticket == ticket }) else { return false }
        waiters[service]?.remove(at: index)
        if waiters[service]?.isEmpty == true { waiters[service] = nil }
        return true
    }
}
