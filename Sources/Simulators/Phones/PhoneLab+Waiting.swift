import Synchronization

/// Waits for events on a phone with suspended tasks, without threads or timers.
extension PhoneLab {
    /// Returns the next push that wakes the app's code; `nil` if the waiting task is cancelled.
    ///
    /// On a phone with `handlesPushes`, pushes that arrive while no task waits are stored and returned first, in order.
    package func nextDelivery(for phone: PhoneID) async -> AppDelivery? {
        let ticket = state.withLock { $0.ticket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> AppDelivery?? in
                    if let kept = state.nextStored(of: phone) { return kept }
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

    /// Waits until the phone's revision exceeds `revision`, and returns it; `nil` if cancelled.
    ///
    /// To miss no change: read `revision(of:)`, look at the phone, then wait for later changes.
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
