import Bindings
import Delivery
import Glibc
import HTTPTypes
import Lua
import NIOCore
import PushCore
import Simulators
import Synchronization

/// Joins connectors to simulators through sockets of this machine: APNs with the HTTP/2 client that pushes to Apple, the others with
/// the one for everybody else. A service takes a port, and gets its connections, when the first request is for it.
final class NetworkTransport: BreakableTransport, WorldConnections {
    private struct State {
        var lines: [Platform: ServiceLine] = [:]
        var isOver = false
        var failure: PushError?
        var onFailure: (@Sendable () -> Void)?
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
        if let failure = state.withLock({ $0.failure }) { throw .notSent(failure.message) }
        guard let line = line(to: platform) else { throw .notSent("the run is over") }
        let outcome = await loop.finish { await line.exchange(request, body: body, breaking: fault) }
        switch outcome {
        case .answered(let response)?: return response
        case .broken(let error)?: throw error
        case .failed(let reason)?:
            fail(platform, reason)
            throw .notSent(reason)
        case nil: throw .unknown("it was not waited for to the end")
        }
    }

    /// No simulated service fails by itself, nor does the way to it: the machine does.
    private func fail(_ platform: Platform, _ reason: String, errno number: CInt? = nil) {
        let number = number ?? [EMFILE, ENFILE].first { reason.contains(String(cString: strerror($0))) }
        let cure = number.map { "\(OpenFiles.hint(for: $0)), or " } ?? ""
        let error = PushError(
            "simulators.unusable",
            "the simulated \(platform.displayName) cannot be reached through sockets of this machine (--wire network): \(reason)",
            hint: "\(cure)leave out --wire network")
        let action = state.withLock { state in
            guard state.failure == nil, !state.isOver else { return (@Sendable () -> Void)?.none }
            state.failure = error
            return state.onFailure
        }
        action?()
    }

    /// Nil when the run is over.
    private func line(to platform: Platform) -> ServiceLine? {
        state.withLock { state in
            guard !state.isOver, let service = services[platform] else { return nil }
            if let line = state.lines[platform] { return line }
            let line = ServiceLine(to: service, isAPNs: platform == .apns, identity: identity, executor: loop) { [weak self] error in
                // Whoever waits in vain for a connection would wait for long.
                self?.fail(platform, String(cString: strerror(error.errnoCode)), errno: error.errnoCode)
                self?.loop.giveUp()
            }
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

    func onFailure(_ action: (@Sendable () -> Void)?) { state.withLock { $0.onFailure = action } }

    func takeFailure() -> PushError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    func hurry(forGood: Bool) { loop.hurry(forGood: forGood) }

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
