import NIOCore
import NIOPosix
import PushCore
import Synchronization

/// Sends pushes over long-lived HTTP/2 connections with TLS, to each origin over its own. What a connection refuses or hands back goes
/// to the next; nothing that may have been processed is sent twice.
///
/// `shutdown()` must be awaited before the program ends.
package final class HTTP2Transport: PushBatchTransport {
    fileprivate struct Entry {
        let line: PushLine
        /// Batches that are being sent over it.
        var users = 0
        /// When it was used last, in the order of all uses.
        var lastUse: UInt64 = 0
    }

    fileprivate struct State {
        var lines: [PushOrigin: Entry] = [:]
        var uses: UInt64 = 0
        var isShutDown = false
    }

    private let route: PushRoute?
    private let trust: TLSTrust
    private let contexts: TLSContexts
    private let limits: HTTP2Limits
    private let network: @Sendable (PushOrigin) -> PublicNetwork?
    private let random: any RandomSource
    private let keepsHeaders: Bool
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    /// - Parameters:
    ///   - route: Where all connections go in place of the services. Requests keep the authority that they are meant for.
    ///   - random: For the pauses between attempts to connect.
    ///   - network: What refuses addresses of an origin that are not public; nil reaches all.
    ///   - keepsHeaders: Whether answers have all their fields, for who records them; the service's own are told apart without.
    package init(
        route: PushRoute? = nil, trust: TLSTrust = TLSTrust(), limits: HTTP2Limits = HTTP2Limits(), random: any RandomSource,
        network: @escaping @Sendable (PushOrigin) -> PublicNetwork? = { _ in nil }, keepsHeaders: Bool = false,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) {
        self.route = route
        self.trust = trust
        contexts = TLSContexts(trust: trust)
        self.limits = limits
        self.random = random
        self.network = network
        self.keepsHeaders = keepsHeaders
        self.group = group
    }

    /// With the port, which a firewall may have to let pass.
    package func destination(of origin: PushOrigin) -> String {
        (route ?? PushRoute(host: origin.host, port: origin.port)).destination
    }

    package func send(_ batch: PushBatch) async -> [PushOutcome] {
        if batch.isEmpty { return [] }
        let origin = batch.headers.origin
        guard let line = enter(origin) else {
            return Array(repeating: .notSent(.closed("the server is ending")), count: batch.count)
        }
        let outcomes = await line.send(batch)
        state.withLock { $0.lines[origin]?.users -= 1 }
        return outcomes
    }

    /// Origins that something is remembered of.
    package var origins: Int { state.withLock { $0.lines.count } }

    /// What waits is not sent; what is under way has a while to be answered. Then the connections are closed.
    package func shutdown() async {
        let lines = state.withLock { state in
            state.isShutDown = true
            return state.lines.values.map(\.line)
        }
        for line in lines { await line.close() }
    }

    /// The line to an origin, which stays as long as the caller uses it.
    private func enter(_ origin: PushOrigin) -> PushLine? {
        let (line, surplus) = state.withLock { state -> (PushLine?, PushLine?) in
            if state.isShutDown { return (nil, nil) }
            let isNew = state.lines[origin] == nil
            let surplus = isNew && state.lines.count >= limits.idleOrigins ? state.removeIdlest() : nil
            state.uses += 1
            var entry = state.lines[origin] ?? Entry(line: makeLine(to: origin))
            (entry.users, entry.lastUse) = (entry.users + 1, state.uses)
            state.lines[origin] = entry
            return (entry.line, surplus)
        }
        surplus?.giveUp()
        return line
    }

    private func makeLine(to origin: PushOrigin) -> PushLine {
        let loop = group.next()
        let dialer = TLSDialer(origin: origin, route: route, trust: trust, limits: limits, network: network(origin), contexts: contexts)
        let pool = ConnectionPool(loop: loop, dialer: dialer, limits: limits, random: random) { [keepsHeaders] slots in
            try NGHTTP2Codec(slots: slots, keepsHeaders: keepsHeaders)
        }
        pool.onRest = { [weak self] in self?.forget(origin) }
        return PushLine(loop: loop, limits: limits, pool: pool)
    }

    /// Of what has rested for long, unless somebody has just come back to it.
    private func forget(_ origin: PushOrigin) {
        state.withLock { state in
            if state.lines[origin]?.users == 0 { state.lines[origin] = nil }
        }
    }
}

extension HTTP2Transport.State {
    /// Takes out the line that nobody uses and was used the longest ago; nil where all are in use.
    fileprivate mutating func removeIdlest() -> PushLine? {
        guard let idlest = lines.filter({ $0.value.users == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse }) else { return nil }
        lines[idlest.key] = nil
        return idlest.value.line
    }
}
