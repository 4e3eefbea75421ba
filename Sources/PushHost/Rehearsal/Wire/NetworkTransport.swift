import Delivery
import HTTPTypes
import Lua
import PushCore
import Simulators
import Synchronization

/// Joins connectors to simulators through sockets of this machine: APNs with the HTTP/2 client that pushes to Apple, the others with
/// the one for everybody else. A service takes a port, and gets its connections, when the first request is for it.
final class NetworkTransport: BreakableTransport {
    private struct State {
        var lines: [Platform: ServiceLine] = [:]
        var isOver = false
    }

    private let services: SimulatedServices
    private let identity: ServerIdentity
    private let loop: ExchangeLoop
    private let state = Mutex(State())

    init(services: SimulatedServices, identity: ServerIdentity, thread: LuaThread) {
        self.services = services
        self.identity = identity
        loop = ExchangeLoop(thread: thread)
    }

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        try await exchange(request, body, breaking: nil)
    }

    func exchange(
        _ request: HTTPRequest, body: [UInt8], breaking fault: WireFaults.Break
    ) async throws(TransportError) -> PushResponse {
        try await exchange(request, body, breaking: fault)
    }

    private func exchange(
        _ request: HTTPRequest, _ body: [UInt8], breaking fault: WireFaults.Break?
    ) async throws(TransportError) -> PushResponse {
        guard let platform = services.platform(of: request) else { throw .nobodyAnswers(for: request) }
        let result = await loop.finish { [self] () async -> Result<PushResponse, TransportError> in
            guard let line = line(to: platform) else { return .failure(.notSent("the run is over")) }
            return await line.exchange(request, body: body, breaking: fault)
        }
        return try result.get()
    }

    /// Nil when the run is over.
    private func line(to platform: Platform) -> ServiceLine? {
        state.withLock { state in
            guard !state.isOver, let service = services[platform] else { return nil }
            if let line = state.lines[platform] { return line }
            let line = ServiceLine(to: service, isAPNs: platform == .apns, identity: identity, executor: loop)
            state.lines[platform] = line
            return line
        }
    }

    /// Ports that are open.
    var ports: [Int] {
        get async {
            var ports: [Int] = []
            for line in state.withLock({ Array($0.lines.values) }) {
                if let port = await line.port { ports.append(port) }
            }
            return ports
        }
    }

    /// Closes everything; what is under way ends first, and nothing more is sent.
    func end() async {
        let lines = state.withLock { state in
            state.isOver = true
            defer { state.lines = [:] }
            return Array(state.lines.values)
        }
        guard !lines.isEmpty else { return }
        await loop.finish {
            for line in lines { await line.end() }
        }
    }
}
