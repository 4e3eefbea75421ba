import PushModel
import Synchronization

/// Stops sending to a push service that does not respond, or that temporarily rejects the hub's credential. After a pause, single pushes
/// probe whether the service works again.
///
/// One breaker per service and credential, shared by all notifications.
final class CircuitBreaker: Sendable {
    enum Admission: Sendable, Equatable {
        case all
        /// One device, as a probe.
        case probe
        case wait(until: Timestamp)
    }

    /// Consecutive failures that open the circuit. Notifications to fewer devices rely on their own retry pauses.
    static let threshold = 20
    /// Failures that all lost pushes of one batch count as. One broken connection says little about a service; several in a row do.
    static let lostBatch = 5
    static let firstPause: Duration = .seconds(5)
    static let longestPause: Duration = .seconds(60)

    private struct Circuit {
        var failures = 0
        var pause: Duration = .zero
        var openUntil: Timestamp?
        /// When the circuit opened; nil while it is closed.
        var stoppedRespondingAt: Timestamp?
        /// The rejection of the credential; nil for a service that does not respond.
        var block: CredentialBlock?
    }

    private let circuit = Mutex(Circuit())

    /// What may be sent now.
    func admission(_ now: Timestamp) -> Admission {
        circuit.withLock { circuit in
            guard let until = circuit.openUntil else { return .all }
            return until > now ? .wait(until: until) : .probe
        }
    }

    /// When the service stopped responding; nil while it responds.
    var stoppedRespondingAt: Timestamp? { circuit.withLock { $0.stoppedRespondingAt } }

    /// Time of the next try; nil while the service responds.
    var nextTry: Timestamp? { circuit.withLock { $0.openUntil } }

    /// Why nothing is sent, if the service rejects the hub's credential.
    var block: CredentialBlock? { circuit.withLock { $0.block } }

    /// Whether there is no state to remember.
    var isAtRest: Bool { circuit.withLock { $0.failures == 0 && $0.openUntil == nil } }

    enum Event: Sendable, Equatable {
        case opened(until: Timestamp)
        /// The service rejects the hub's credential, which opens the circuit without a number of failures.
        case blocked(CredentialBlock, until: Timestamp)
        case closed
    }

    /// Records the verdicts of a batch. Any answer about a device, also that there are too many pushes, shows that the service works and
    /// closes the circuit. A rejection of the credential applies to all devices, so the first one opens it.
    func note(_ verdicts: [Verdict], now: Timestamp) -> Event? {
        guard !verdicts.isEmpty else { return nil }
        var (failures, lost, isAll) = (0, 0, true)
        var block: CredentialBlock?
        for verdict in verdicts.reversed() where isAll {
            if let found = CredentialBlock(verdict) {
                failures += 1
                block = found
                continue
            }
            switch RetryPolicy.FailureKind(verdict) {
            case nil, .throttled: isAll = false
            case .failing, .unreachable: failures += 1
            case .unknown: lost += 1
            }
        }
        failures += min(lost, Self.lostBatch)
        return circuit.withLock { circuit in
            guard isAll else {
                defer { circuit = Circuit(failures: failures) }
                return circuit.openUntil == nil ? nil : .closed
            }
            circuit.failures += failures
            if let until = circuit.openUntil {
                // Batches that were in flight when the circuit opened change nothing.
                guard until <= now else { return nil }
            } else {
                guard block != nil || circuit.failures >= Self.threshold else { return nil }
            }
            circuit.block = block
            circuit.pause = min(max(circuit.pause * 2, Self.firstPause), Self.longestPause)
            let until = now + circuit.pause
            circuit.openUntil = until
            circuit.stoppedRespondingAt = circuit.stoppedRespondingAt ?? now
            return block.map { .blocked($0, until: until) } ?? .opened(until: until)
        }
    }
}
