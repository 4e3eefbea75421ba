import Lua
import PushModel
import Synchronization

/// Fixed costs of host work and storage that is not measured.
///
/// CPU time of the run's own thread is measured, in Lua and in the host. Work on other threads is charged as follows:
/// - a notification accepted by a server's hub: 100 µs, for its transactions
/// - each targeted device: 100 ns, for finding it; delivery is not charged
/// - a password hashed on another thread: the measured time of the hash
///
/// Memory is charged for what remains after a call. In a world in this process that is everything its hub and devices store.
enum HostCost {
    /// CPU time in nanoseconds.
    static let acceptedNotification = 100_000
    /// CPU time in nanoseconds.
    static let targetedDevice = 100

    // Memory in bytes, rounded from the measured growth of the process on 64-bit Linux.
    static let storedNotification = 1_200
    static let storedOutcome = 300
    static let storedDevice = 1_200
    static let storedRegistration = 1_200
    static let storedAccount = 300
    static let plannedNotification = 200
    static let reportedSend = 300
    static let openExpectation = 100
    static let joinedTask = 50
}

extension FlowRun {
    /// Charges a notification before it is given to the hub.
    func store(_ request: NotificationRequest) throws(LuaError) {
        if world.memory != nil {
            try account.charge(.memory, HostCost.storedNotification + request.content.byteCount)
        } else if world.usesOwnThreads {
            try account.charge(.cpu, HostCost.acceptedNotification)
        }
    }

    /// Charges the cost of a notification's devices once their number is known.
    func chargeDevices(of outcome: NotificationOutcome) {
        if world.memory != nil {
            account.note(.memory, HostCost.storedOutcome * outcome.total)
        } else if world.usesOwnThreads {
            account.note(.cpu, HostCost.targetedDevice * outcome.total)
        }
    }
}

extension NotificationContent {
    /// Bytes of all texts and bodies.
    fileprivate var byteCount: Int {
        switch self {
        case .template(let properties): properties.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        case .native(let payloads): payloads.values.reduce(0) { $0 + $1.body.count }
        }
    }
}

/// Charges the memory that a world in this process stores to the run that uses it.
package final class WorldMemory: Sendable {
    private let account = Mutex<RunAccount?>(nil)

    package init() {}

    /// Sets the account to charge; nil charges none.
    func charge(to account: RunAccount?) { self.account.withLock { $0 = account } }

    /// Charges newly stored bytes.
    package func note(_ bytes: Int) { account.withLock { $0 }?.note(.memory, bytes) }
}
