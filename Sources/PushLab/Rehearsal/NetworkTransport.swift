import Bindings
import Delivery
import Glibc
import HTTPTypes
import Lua
import NIOCore
import PushModel
import PushRuntime
import Simulators
import Synchronization

/// Connects connectors to simulators through local sockets: APNs with the HTTP/2 client of production, the others with the general HTTP
/// client. A service opens its port at the first request to it.
final class NetworkTransport: BreakableTransport, WorldConnections {
    private struct State {
        var lines: [Platform: ServiceEndpoint] = [:]
        var isOver = false
        var failure: PushError?
        var onFailure: (@Sendable () -> Void)?
    }

    private let services: SimulatedServices
    private let identity: ServerIdentity
    private let loop: ExchangeExecutor
    private let state = Mutex(State())

    init(services: SimulatedServices, identity: ServerIdentity, thread: LuaThread) {
        self.services = services
        self.identity = identity
        loop = ExchangeExecutor(thread: thread)
    }

    /// The simulated host, as in process: the output of a run does not depend on how it reaches the simulators.
    func destination(of authority: String) -> String { authority }

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
        guard let platform = services.platform(of: request) else { throw .noSimulatedService(for: request) }
        if let failure = state.withLock({ $0.failure }) { throw .notSent(failure.message) }
        guard let line = line(to: platform) else { throw .notSent("the run has ended") }
        let outcome = await loop.finish { await line.exchange(request, body: body, breaking: fault) }
        switch outcome {
        case .answered(let response)?: return response
        case .broken(let error)?: throw error
        case .failed(let reason)?:
            fail(platform, reason)
            throw .notSent(reason)
        case nil: throw .unknown("the exchange was abandoned")
        }
    }

    /// Records a failure of the machine, such as too few file descriptors: simulated services do not fail by themselves.
    private func fail(_ platform: Platform, _ reason: String, errno number: CInt? = nil) {
        let number = number ?? [EMFILE, ENFILE].first { reason.contains(String(cString: strerror($0))) }
        let fix = number.map { "\(DescriptorLimit.hint(for: $0)), or " } ?? ""
        let error = PushError(
            "simulators.unusable",
            "the simulated \(platform.displayName) cannot be reached through local sockets (--wire network): \(reason)",
            hint: "\(fix)leave out --wire network")
        let action = state.withLock { state in
            guard state.failure == nil, !state.isOver else { return (@Sendable () -> Void)?.none }
            state.failure = error
            return state.onFailure
        }
        action?()
    }

    /// The line to a platform's service, created at the first request. Nil after `end()`.
    private func line(to platform: Platform) -> ServiceEndpoint? {
        state.withLock { state in
            guard !state.isOver, let service = services[platform] else { return nil }
            if let line = state.lines[platform] { return line }
            let line = ServiceEndpoint(to: service, isAPNs: platform == .apns, identity: identity, executor: loop) { [weak self] error in
                // Without this, the exchange would wait for its connection until the timeout.
                self?.fail(platform, String(cString: strerror(error.errnoCode)), errno: error.errnoCode)
                self?.loop.giveUp()
            }
            state.lines[platform] = line
            return line
        }
    }

    /// The open ports.
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

    func consumeFailure() -> PushError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    func shortenTimeouts(permanently: Bool) { loop.shortenTimeouts(permanently: permanently) }

    /// Closes all connections and listeners after the running exchange ends. Later requests fail.
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
