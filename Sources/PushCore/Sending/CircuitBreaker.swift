import Synchronization

/// Leaves a push service in peace that answers nobody: after some failures in a row nothing is sent for a while, then a push at a
/// time to see whether it is back. One for a service and its credential; notifications share it.
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

    /// Whether there is nothing to remember.
    var isAtRest: Bool { circuit.withLock { $0.failures == 0 && $0.openUntil == nil } }

    enum News: Sendable, Equatable {
        case opened(until: Timestamp)
        case closed
    }

    /// Told how a batch ended. Any answer about a device is a sign of life; that there are too many pushes is one, too.
    func note(_ verdicts: [Verdict], now: Timestamp) -> News? {
        guard !verdicts.isEmpty else { return nil }
        var (failures, lost, isAll) = (0, 0, true)
        for verdict in verdicts.reversed() where isAll {
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
                guard circuit.failures >= Self.threshold else { return nil }
            }
            circuit.pause = min(max(circuit.pause * 2, Self.firstPause), Self.longestPause)
            let until = now + circuit.pause
            circuit.openUntil = until
            circuit.openSince = circuit.openSince ?? now
            return .opened(until: until)
        }
    }
}
