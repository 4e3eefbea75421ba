import Synchronization

/// Which events somebody wants to hear of, and how they are told that there are some. Hubs ask it at every change.
package final class HubEvents: Sendable {
    /// A bit for each kind.
    private let wanted = Atomic<UInt8>(0)
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    package func isWanted(_ kind: HubEvent.Kind) -> Bool { wanted.load(ordering: .relaxed) & kind.bit != 0 }

    /// - Parameter listener: called when events were kept, from anywhere.
    package func want(_ kinds: Set<HubEvent.Kind>, _ listener: @escaping @Sendable () -> Void) {
        self.listener.withLock { $0 = listener }
        wanted.store(kinds.reduce(0) { $0 | $1.bit }, ordering: .relaxed)
    }

    /// Events were kept.
    func tell() { listener.withLock { $0 }?() }
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
