import Synchronization

/// Leaves a push service in peace that answers nobody: after some failures in a row nothing is sent for a while, then a push at a
/// time to see whether it is back. One for a platform and its credential; notifications share it.
///
/// Browsers have many push services. As long as one of them answers, those that answer nobody hold up their own browsers alone.
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
        /// Push services of browsers that have answered when they were asked last.
        var answering: Set<Substring> = []
    }

    /// Origins come from devices, so that they must not fill the memory.
    private static let mostOrigins = 1_000

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

    enum News: Sendable, Equatable {
        case opened(until: Timestamp)
        case closed
    }

    /// Told how a batch ended. Any answer about a device is a sign of life; that there are too many pushes is one, too.
    ///
    /// - Parameter handles: whose verdicts they are; those of browsers tell their push services apart.
    func note(_ verdicts: [Verdict], of handles: [DeviceHandle] = [], now: Timestamp) -> News? {
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
        let (answered, silent) = Self.origins(verdicts, handles)
        return circuit.withLock { circuit in
            circuit.answering.subtract(silent)
            if circuit.answering.count < Self.mostOrigins { circuit.answering.formUnion(answered) }
            guard isAll else {
                defer { circuit = Circuit(failures: circuit.answering.isEmpty ? failures : 0, answering: circuit.answering) }
                return circuit.openUntil == nil ? nil : .closed
            }
            guard circuit.answering.isEmpty else { return nil }
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

    /// Push services of browsers that answered for some of them, and those that answered for none.
    private static func origins(_ verdicts: [Verdict], _ handles: [DeviceHandle]) -> (answered: Set<Substring>, silent: Set<Substring>) {
        var (answered, silent) = (Set<Substring>(), Set<Substring>())
        for (verdict, handle) in zip(verdicts, handles) {
            guard case .browser(let endpoint, _, _) = handle else { break }
            switch RetryPolicy.Trouble(verdict) {
            case nil, .throttled: answered.insert(origin(of: endpoint))
            case .failing, .unreachable, .unknown: silent.insert(origin(of: endpoint))
            }
        }
        return (answered, silent.subtracting(answered))
    }

    /// Scheme, host and port of an address.
    private static func origin(of address: String) -> Substring {
        guard let host = address.firstRange(of: "://")?.upperBound else { return address[...] }
        return address[..<(address[host...].firstIndex(of: "/") ?? address.endIndex)]
    }
}
