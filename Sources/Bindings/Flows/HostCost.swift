import Lua
import PushCore
import Synchronization

/// Stated costs of what the host does or stores for a run, where nothing measures them.
///
/// CPU time of the run's own thread is measured, in Lua and in the host. What other threads do for the run is charged by these figures:
/// - a notification that a server's hub accepts: 100 µs, for its transactions;
/// - each device that it reaches: 100 ns, for finding it. Delivering is the hub's work, and not charged.
/// - a password that is hashed on another thread: what the hash took, measured there.
///
/// Memory is what stays when the call is over. In a world in this process that is all that its hub and its phones store.
enum HostCost {
    /// Nanoseconds.
    static let acceptedNotification = 100_000
    /// Nanoseconds.
    static let targetedDevice = 100

    // Bytes, rounded from the growth of the process on 64-bit Linux.
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
    /// Charges what a call makes the host store: a fixed part, and the texts among its arguments.
    func store(_ bytes: Int, _ arguments: Arguments) throws(LuaError) {
        guard world.memory != nil else { return }
        try account.charge(.memory, bytes + 2 * arguments.byteCount)
    }

    /// Charges a notification that is about to be handed to the hub.
    func store(_ request: NotificationRequest) throws(LuaError) {
        if world.memory != nil {
            try account.charge(.memory, HostCost.storedNotification + request.content.byteCount)
        } else if world.worksElsewhere {
            try account.charge(.cpu, HostCost.acceptedNotification)
        }
    }

    /// Charges what a notification's devices cost, once their number is known.
    func noteDevices(of outcome: NotificationOutcome) {
        if world.memory != nil {
            account.note(.memory, HostCost.storedOutcome * outcome.total)
        } else if world.worksElsewhere {
            account.note(.cpu, HostCost.targetedDevice * outcome.total)
        }
    }
}

extension NotificationContent {
    /// Bytes of its texts and bodies.
    fileprivate var byteCount: Int {
        switch self {
        case .template(let properties): properties.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        case .native(let payloads): payloads.values.reduce(0) { $0 + $1.body.count }
        }
    }
}

extension LuaValue {
    /// Bytes of its texts, with a word for each other value.
    var byteCount: Int {
        switch self {
        case .nil, .boolean, .integer, .number, .function, .object: 8
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .table(let table):
            table.array.reduce(0) { $0 + $1.byteCount } + table.fields.reduce(0) { $0 + $1.key.utf8.count + $1.value.byteCount }
        }
    }
}

/// What a world in this process stores, charged to the run that works in it.
package final class WorldMemory: Sendable {
    private let account = Mutex<RunAccount?>(nil)

    package init() {}

    /// From now on this account is charged; nil: none.
    func charge(to account: RunAccount?) { self.account.withLock { $0 = account } }

    /// Charges what has come to be stored.
    package func note(_ bytes: Int) { account.withLock { $0 }?.note(.memory, bytes) }
}
