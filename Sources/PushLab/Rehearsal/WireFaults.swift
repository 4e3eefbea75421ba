import Delivery
import PushModel
import Synchronization

/// The injected latencies and broken connections of the wires to simulated push services.
final class WireFaults: Sendable {
    enum Break: Sendable {
        /// The service does not receive the request.
        case beforeRequest
        /// The service processes the request; the response is lost.
        case afterRequest

        /// The error that the sender gets.
        var error: TransportError {
            switch self {
            case .beforeRequest: .notSent("the connection broke before the request was received")
            case .afterRequest: .unknown("the connection broke before the response arrived")
            }
        }
    }

    private struct Wire: Sendable {
        /// By owner.
        var latencies: [String?: Duration] = [:]
        /// Breaks in order; `left` is the number of connections that each still breaks.
        var breaks: [(kind: Break, left: Int, owner: String?)] = []

        var isIntact: Bool { latencies.isEmpty && breaks.isEmpty }
    }

    private let wires = Mutex<[Platform: Wire]>([:])

    var isEmpty: Bool { wires.withLock { $0.isEmpty } }

    /// The longest latency that any owner has set.
    func latency(of service: Platform) -> Duration { wires.withLock { $0[service]?.latencies.values.max() ?? .zero } }

    /// Consumes and returns the next break; nil if there is none.
    func nextBreak(of service: Platform) -> Break? {
        wires.withLock { wires in
            guard var breaks = wires[service]?.breaks, let first = breaks.first else { return nil }
            if first.left > 1 { breaks[0].left -= 1 } else { breaks.removeFirst() }
            wires[service]?.breaks = breaks
            return first.kind
        }
    }

    func setLatency(_ latency: Duration, of service: Platform, owner: String? = nil) {
        wires.withLock { $0[service, default: Wire()].latencies[owner] = latency }
    }

    func add(_ kind: Break, count: Int, to service: Platform, owner: String? = nil) {
        guard count > 0 else { return }
        wires.withLock { $0[service, default: Wire()].breaks.append((kind, count, owner)) }
    }

    /// Removes the faults of an owner.
    func clear(_ service: Platform, of owner: String? = nil) {
        wires.withLock { wires in
            guard var wire = wires[service] else { return }
            wire.latencies[owner] = nil
            wire.breaks.removeAll { $0.owner == owner }
            wires[service] = wire.isIntact ? nil : wire
        }
    }
}
