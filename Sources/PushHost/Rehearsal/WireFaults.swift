import PushCore
import Synchronization

/// What is wrong with the wires to the simulated push services.
final class WireFaults: Sendable {
    enum Break: Sendable {
        /// The service never saw the request.
        case beforeRequest
        /// The service acted on it, the answer is lost.
        case afterRequest
    }

    private struct Wire: Sendable {
        var latency: Duration = .zero
        /// In order, with how many connections each still breaks.
        var breaks: [(kind: Break, left: Int)] = []
    }

    private let wires = Mutex<[Platform: Wire]>([:])

    var isEmpty: Bool { wires.withLock { $0.isEmpty } }

    func latency(of service: Platform) -> Duration { wires.withLock { $0[service]?.latency ?? .zero } }

    /// What befalls the next connection, if anything does.
    func nextBreak(of service: Platform) -> Break? {
        wires.withLock { wires in
            guard var breaks = wires[service]?.breaks, let first = breaks.first else { return nil }
            if first.left > 1 { breaks[0].left -= 1 } else { breaks.removeFirst() }
            wires[service]?.breaks = breaks
            return first.kind
        }
    }

    func setLatency(_ latency: Duration, of service: Platform) {
        wires.withLock { $0[service, default: Wire()].latency = latency }
    }

    func add(_ kind: Break, count: Int, to service: Platform) {
        guard count > 0 else { return }
        wires.withLock { $0[service, default: Wire()].breaks.append((kind, count)) }
    }

    func clear(_ service: Platform) { wires.withLock { $0[service] = nil } }
}
