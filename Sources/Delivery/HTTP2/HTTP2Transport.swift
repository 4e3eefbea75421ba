import NIOCore
import NIOPosix
import PushCore
import Synchronization

/// Sends pushes over long-lived HTTP/2 connections with TLS, to each origin over its own. What a connection refuses or hands back goes
/// to the next; nothing that may have been processed is sent twice.
///
/// `shutdown()` must be awaited before the program ends.
package final class HTTP2Transport: PushBatchTransport {
    private struct State {
        var lines: [PushOrigin: PushLine] = [:]
        var isShutDown = false
    }

    private let route: PushRoute?
    private let trust: TLSTrust
    private let limits: HTTP2Limits
    private let random: any RandomSource
    private let keepsHeaders: Bool
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    /// - Parameters:
    ///   - route: Where all connections go in place of the services. Requests keep the authority that they are meant for.
    ///   - random: For the pauses between attempts to connect.
    ///   - keepsHeaders: Whether answers have all their fields, for who records them; the service's own are told apart without.
    package init(
        route: PushRoute? = nil, trust: TLSTrust = TLSTrust(), limits: HTTP2Limits = HTTP2Limits(), random: any RandomSource,
        keepsHeaders: Bool = false, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) {
        self.route = route
        self.trust = trust
        self.limits = limits
        self.random = random
        self.keepsHeaders = keepsHeaders
        self.group = group
    }

    /// With the port, which a firewall may have to let pass.
    package func destination(of origin: PushOrigin) -> String {
        (route ?? PushRoute(host: origin.host, port: origin.port)).destination
    }

    package func send(_ batch: PushBatch) async -> [PushOutcome] {
        if batch.isEmpty { return [] }
        guard let line = line(to: batch.headers.origin) else {
            return Array(repeating: .notSent(.closed("the server is ending")), count: batch.count)
        }
        return await line.send(batch)
    }

    /// What waits is not sent; what is under way has a while to be answered. Then the connections are closed.
    package func shutdown() async {
        let lines = state.withLock { state in
            state.isShutDown = true
            return Array(state.lines.values)
        }
        for line in lines { await line.close() }
    }

    private func line(to origin: PushOrigin) -> PushLine? {
        state.withLock { state in
            if state.isShutDown { return nil }
            if let line = state.lines[origin] { return line }
            let loop = group.next()
            let dialer = TLSDialer(origin: origin, route: route, trust: trust, limits: limits)
            let pool = ConnectionPool(loop: loop, dialer: dialer, limits: limits, random: random) { [keepsHeaders] slots in
                try NGHTTP2Codec(slots: slots, keepsHeaders: keepsHeaders)
            }
            let line = PushLine(loop: loop, limits: limits, pool: pool)
            state.lines[origin] = line
            return line
        }
    }
}
