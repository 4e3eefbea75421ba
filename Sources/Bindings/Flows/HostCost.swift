import Lua
import PushModel
import Synchronization

/// Fixed costs of what the host stores for a run: memory in bytes, rounded from the measured growth of the process on 64-bit Linux.
///
/// Memory is charged for what remains after a call. In a world in this process that is everything its hub and devices store. CPU time needs
/// no fixed costs here: it is measured, on the run's own thread and, for ``ChargedWork``, on others.
enum HostCost {
    static let storedNotification = 1_200
    static let storedOutcome = 300
    static let storedDevice = 1_200
    static let storedRegistration = 1_200
    static let storedAccount = 300
    static let plannedNotification = 200
    static let reportedSend = 300
    /// An event that is stored until the end of the run, besides its texts.
    static let retainedEvent = 300
    static let openExpectation = 100
    static let joinedTask = 50
    static let injectedFault = 200
    /// Each tag or other text in a list or table of a call, header, or operand of a tag expression: a copy in the store, and entries of the
    /// tag index if it is new.
    static let storedText = 150
    /// An operation in progress: its task, its frames and its queue entries.
    static let operation = 8_000
    /// A send in progress, besides its devices: the frames of all functions between the script and the hub.
    static let sendInProgress = 50_000
}

extension FlowRun {
    /// Charges a notification before it is given to the hub.
    func store(_ request: NotificationRequest) throws(LuaError) {
        guard world.memory != nil else { return }
        let options = request.options.collapseID?.utf8.count ?? 0
        try account.charge(
            .memory, HostCost.storedNotification + request.content.storedBytes + (request.audience.expression?.storedBytes ?? 0) + options)
    }

    /// Charges the results of a notification once their number is known.
    func chargeDevices(of outcome: NotificationOutcome) {
        guard world.memory != nil else { return }
        account.note(.memory, HostCost.storedOutcome * outcome.total)
    }
}

extension NotificationContent {
    /// Bytes of all texts, bodies and headers.
    fileprivate var storedBytes: Int {
        switch self {
        case .template(let properties): properties.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        case .native(let payloads):
            payloads.values.reduce(0) { $0 + $1.body.count + $1.headerBytes + HostCost.storedText * $1.headers.count }
        }
    }
}

extension TagExpression {
    /// Bytes of the tree of operands and of the texts made from it.
    fileprivate var storedBytes: Int { 2 * byteCount + HostCost.storedText * operandCount }
}

/// Charges the memory that a world in this process stores to the run that uses it.
package final class WorldMemory: Sendable {
    private let account = Mutex<RunAccount?>(nil)

    package init() {}

    /// Sets the account to charge; nil charges none.
    func charge(to account: RunAccount?) { self.account.withLock { $0 = account } }

    /// Charges newly stored bytes, or releases bytes that are no longer stored if the number is negative.
    @Sendable package func grew(by bytes: Int) {
        let account = account.withLock { $0 }
        if bytes > 0 { account?.note(.memory, bytes) } else { account?.release(.memory, -bytes) }
    }
}
