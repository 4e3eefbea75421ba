import Synchronization

/// Waiting for what happens on a phone: suspended tasks, no threads, no timers.
extension PhoneLab {
    /// The next push that wakes the app's code; nil when the waiting task is cancelled.
    ///
    /// On a phone with `handlesPushes`, those that came while nobody waited are kept and given first, in order.
    package func nextDelivery(for phone: PhoneID) async -> AppDelivery? {
        let ticket = state.withLock { $0.ticket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> AppDelivery?? in
                    if let kept = state.nextKept(of: phone) { return kept }
                    if Task.isCancelled { return .some(nil) }
                    state.deliveryWaiters.join(.init(ticket: ticket, phone: phone, continuation: continuation))
                    return .none
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            state.withLock { $0.deliveryWaiters.remove(ticket: ticket) }?.continuation.resume(returning: nil)
        }
    }

    /// Waits until the phone has seen more than `revision` changes, and returns how many; nil when cancelled.
    ///
    /// To wait without missing anything: read `revision(of:)`, look at the phone, then wait for what comes after.
    package func nextChange(of phone: PhoneID, after revision: Int) async -> Int? {
        let ticket = state.withLock { $0.ticket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Int?? in
                    if let current = state.phones[phone]?.revision, current > revision { return .some(current) }
                    if Task.isCancelled { return .some(nil) }
                    state.changeWaiters.join(
                        .init(ticket: ticket, phone: phone, continuation: continuation, threshold: revision))
                    return .none
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            state.withLock { $0.changeWaiters.remove(ticket: ticket) }?.continuation.resume(returning: nil)
        }
    }
}
