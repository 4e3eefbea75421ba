import Simulators
import Synchronization

/// A ledger that writes when the test says so.
final class EventBox: Sendable {
    private let held = Mutex<[@Sendable () -> Void]>([])

    var waiting: Int { held.withLock { $0.count } }

    var sink: LedgerSink {
        { _, isWritten in self.held.withLock { $0.append(isWritten) } }
    }

    func release() {
        let ready = held.withLock { held in
            defer { held = [] }
            return held
        }
        for isWritten in ready { isWritten() }
    }
}
