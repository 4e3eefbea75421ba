package import NIOCore
import NIOPosix
package import PushModel
import Synchronization

/// Sends pushes over long-lived HTTP/2 connections with TLS, with separate connections for each origin. A push that a connection rejects or
/// returns unsent goes to the next one. A push that may have been processed is never sent twice.
///
/// Await `shutdown()` before the program ends.
package final class HTTP2Transport: PushBatchTransport {
    fileprivate struct Entry {
        let line: OriginConnections
        /// Number of batches that are being sent over it.
        var users = 0
        /// Sequence number of its latest use.
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
    private let recordsHeaders: Bool
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    /// - Parameters:
    ///   - route: The host that all connections go to instead of the services. Requests keep their authority.
    ///   - random: Jitter of the pauses between connection attempts.
    ///   - network: Rejects non-public addresses of an origin; `nil` allows all addresses.
    ///   - recordsHeaders: Whether answers include all header fields, for recording. The known fields are always read.
    package init(
        route: PushRoute? = nil, trust: TLSTrust = TLSTrust(), limits: HTTP2Limits = HTTP2Limits(), random: any RandomSource,
        network: @escaping @Sendable (PushOrigin) -> PublicNetwork? = { _ in nil }, recordsHeaders: Bool = false,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) {
        self.route = route
        self.trust = trust
        contexts = TLSContexts(trust: trust)
        self.limits = limits
        self.random = random
        self.network = network
        self.recordsHeaders = recordsHeaders
        self.group = group
    }

    package var isSequential: Bool { false }

    /// The destination with its port, which a firewall may have to allow.
    package func destination(of origin: PushOrigin) -> String {
        (route ?? PushRoute(host: origin.host, port: origin.port)).destination
    }

    package func send(_ batch: PushBatch) async -> [PushOutcome] {
        if batch.isEmpty { return [] }
        let origin = batch.headers.origin
        guard let line = enter(origin) else {
            return Array(repeating: .notSent(.closed("the server is shutting down")), count: batch.count)
        }
        let outcomes = await line.send(batch)
        state.withLock { $0.lines[origin]?.users -= 1 }
        return outcomes
    }

    /// Number of origins with remembered state.
    package var origins: Int { state.withLock { $0.lines.count } }

    /// Stops sending. Waiting pushes fail as not sent, pushes in flight have some time to be answered; then connections are closed.
    package func shutdown() async {
        let lines = state.withLock { state in
            state.isShutDown = true
            return state.lines.values.map(\.line)
        }
        for line in lines { await line.close() }
    }

    /// Returns the line to an origin and marks it as used until the caller is done.
    private func enter(_ origin: PushOrigin) -> OriginConnections? {
        let (line, surplus) = state.withLock { state -> (OriginConnections?, OriginConnections?) in
            if state.isShutDown { return (nil, nil) }
            let isNew = state.lines[origin] == nil
            let surplus = isNew && state.lines.count >= limits.idleOrigins ? state.removeLeastRecentlyUsed() : nil
            state.uses += 1
            var entry = state.lines[origin] ?? Entry(line: makeLine(to: origin))
            (entry.users, entry.lastUse) = (entry.users + 1, state.uses)
            state.lines[origin] = entry
            return (entry.line, surplus)
        }
        surplus?.giveUp()
        return line
    }

    private func makeLine(to origin: PushOrigin) -> OriginConnections {
        let loop = group.next()
        let dialer = TLSDialer(origin: origin, route: route, trust: trust, limits: limits, network: network(origin), contexts: contexts)
        let pool = ConnectionPool(loop: loop, dialer: dialer, limits: limits, random: random) { [recordsHeaders] slots in
            try NGHTTP2Codec(slots: slots, recordsHeaders: recordsHeaders)
        }
        pool.onIdle = { [weak self] in self?.forget(origin) }
        return OriginConnections(loop: loop, limits: limits, pool: pool)
    }

    /// Removes an idle origin, unless it is in use again.
    private func forget(_ origin: PushOrigin) {
        state.withLock { state in
            if state.lines[origin]?.users == 0 { state.lines[origin] = nil }
        }
    }
}

extension HTTP2Transport.State {
    /// Removes the least recently used line that is not in use; returns `nil` if all are in use.
    fileprivate mutating func removeLeastRecentlyUsed() -> OriginConnections? {
        guard let idlest = lines.filter({ $0.value.users == 0 }).min(by: { $0.value.lastUse < $1.value.lastUse }) else { return nil }
        lines[idlest.key] = nil
        return idlest.value.line
    }
}
