import Synchronization

/// Records which event kinds are subscribed to, and notifies the subscriber. Hubs check it at every change.
package final class HubEvents: Sendable {
    /// One bit per kind.
    private let observedKinds = Atomic<UInt8>(0)
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    package func isObserved(_ kind: HubEvent.Kind) -> Bool { observedKinds.load(ordering: .relaxed) & kind.bit != 0 }

    /// - Parameter listener: called on any thread when events have been stored.
    package func subscribe(to kinds: Set<HubEvent.Kind>, _ listener: @escaping @Sendable () -> Void) {
        self.listener.withLock { $0 = listener }
        observedKinds.store(kinds.reduce(0) { $0 | $1.bit }, ordering: .relaxed)
    }

    /// Notifies the subscriber that events have been stored.
    package func notify() { listener.withLock { $0 }?() }
}

extension HubEvent.Kind {
    fileprivate var bit: UInt8 {
        switch self {
        case .registrationCreated: 1
        case .registrationUpdated: 2
        case .registrationDeleted: 4
        case .notificationCompleted: 8
        case .tokenExpired: 16
        }
    }
}
