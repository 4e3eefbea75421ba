/// Callbacks for events on the phones of a lab, called outside of any lock.
package struct PhoneObserver: Sendable {
    /// Called for every event of a push, in order.
    package var event: @Sendable (PhoneEvent) -> Void
    /// Called for every push that wakes an app's own code.
    package var wake: @Sendable (AppDelivery) -> Void
    /// Called with the change of the lab's stored bytes, if there is one.
    package var grew: @Sendable (Int) -> Void

    package init(
        event: @escaping @Sendable (PhoneEvent) -> Void, wake: @escaping @Sendable (AppDelivery) -> Void = { _ in },
        grew: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        (self.event, self.wake, self.grew) = (event, wake, grew)
    }
}
