import Synchronization

/// Stops sending to a push service that answers nobody, or that refuses the hub's credential for the time being: nothing is sent for a
/// while, then a push at a time to see whether the service takes pushes again. One for a service and its credential; notifications
/// share it.
final class CircuitBreaker: Sendable {
    enum Admission: Sendable, Equatable {
        case all
        /// One device, to see.
        case probe
        case wait(until: Timestamp)
    }

    /// Failures in a row that open it. Notifications to few are left to their own pauses.
    static let threshold = 20
    /// What the pushes of a batch count for, all together, that were lost with a connection: one that broke off says little of the
    /// service, some in a row do.
    static let lostBatch = 5
    static let firstPause: Duration = .seconds(5)
    static let longestPause: Duration = .seconds(60)

    private struct Circuit {
        var failures = 0
        var pause: Duration = .zero
        var openUntil: Timestamp?
        /// Nobody was answered since then.
        var openSince: Timestamp?
        /// What the service says about the credential; nil for a service that answers nobody.
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

    /// Since when the service has answered nobody; nil as long as it does.
    var openSince: Timestamp? { circuit.withLock { $0.openSince } }

    /// When the next push is tried; nil as long as the service answers.
    var nextTry: Timestamp? { circuit.withLock { $0.openUntil } }

    /// Why nothing is sent, where the service refuses the hub's credential.
    var block: CredentialBlock? { circuit.withLock { $0.block } }

    /// Whether there is nothing to remember.
    var isAtRest: Bool { circuit.withLock { $0.failures == 0 && $0.openUntil == nil } }

    enum News: Sendable, Equatable {
        case opened(until: Timestamp)
        /// The service refuses the hub's credential, so that no number of failures is waited for.
        case blocked(CredentialBlock, until: Timestamp)
        case closed
    }

    /// Records how a batch ended. Any answer about a device is a sign of life; that there are too many pushes is one, too. A refusal of
    /// the credential itself holds for all devices: the first one opens the circuit.
    func note(_ verdicts: [Verdict], now: Timestamp) -> News? {
        guard !verdicts.isEmpty else { return nil }
        var (failures, lost, isAll) = (0, 0, true)
        var block: CredentialBlock?
        for verdict in verdicts.reversed() where isAll {
            if let found = CredentialBlock(verdict) {
                failures += 1
                block = found
                continue
            }
            switch RetryPolicy.Trouble(verdict) {
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
                // Of what was under way when it opened nobody hears anything new.
                guard until <= now else { return nil }
            } else {
                guard block != nil || circuit.failures >= Self.threshold else { return nil }
            }
            circuit.block = block
            circuit.pause = min(max(circuit.pause * 2, Self.firstPause), Self.longestPause)
            let until = now + circuit.pause
            circuit.openUntil = until
            circuit.openSince = circuit.openSince ?? now
            return block.map { .blocked($0, until: until) } ?? .opened(until: until)
        }
    }
}
