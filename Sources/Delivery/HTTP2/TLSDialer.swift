import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Where all connections go in place of the hosts that requests name.
package struct PushRoute: Sendable {
    package var host: String
    package var port: Int
    /// What its certificate must name; the host of the requests for nil.
    package var name: String?

    package init(host: String, port: Int, name: String? = nil) {
        self.host = host
        self.port = port
        self.name = name
    }

    package var destination: String { "\(host):\(port)" }
}

/// Connects to one origin over TCP and TLS. Belongs to one event loop.
final class TLSDialer: PushDialer {
    private let origin: PushOrigin
    private let route: PushRoute?
    private let trust: TLSTrust
    private let limits: HTTP2Limits
    private let network: PublicNetwork?
    private let contexts: TLSContexts
    private var context: NIOSSLContext?

    /// - Parameters:
    ///   - network: what refuses addresses that are not public; nil reaches all.
    ///   - contexts: those of the same trust, which dialers share.
    init(
        origin: PushOrigin, route: PushRoute?, trust: TLSTrust, limits: HTTP2Limits, network: PublicNetwork? = nil,
        contexts: TLSContexts
    ) {
        self.origin = origin
        self.route = route
        self.trust = trust
        self.limits = limits
        self.contexts = contexts
        self.network = network
    }

    private var name: String { route?.name ?? origin.host }

    func dial(on loop: any EventLoop) -> EventLoopFuture<any Channel> {
        look(on: loop).and(tls(on: loop)).assumeIsolated().flatMap { [self] _, context in
            self.context = context
            return ClientBootstrap(group: loop)
                .connectTimeout(TimeAmount(limits.connect))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 * 1024))
                .channelOption(.maxMessagesPerRead, value: 4)
                .channelOption(.writeBufferWaterMark, value: .init(low: 128 * 1024, high: 512 * 1024))
                .connect(host: route?.host ?? origin.host, port: route?.port ?? origin.port)
        }.flatMapThrowing { [self] channel in
            guard let context else { throw ChannelError.inappropriateOperationForState }
            do {
                // What the name leads to may have changed since it was looked at; not even a greeting goes there.
                try network?.check(channel)
                let isAddress = (try? SocketAddress(ipAddress: name, port: 0)) != nil
                try channel.pipeline.syncOperations.addHandler(
                    NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : name))
            } catch {
                channel.close(promise: nil)
                throw error
            }
            return channel
        }.nonisolated()
    }

    /// At the name, before anything goes to it.
    private func look(on loop: any EventLoop) -> EventLoopFuture<Void> {
        guard let network else { return loop.makeSucceededVoidFuture() }
        return loop.makeFutureWithTask { [host = origin.host] in try await network.check(host) }
    }

    /// Reading the roots of the machine takes its time: not on the loop.
    private func tls(on loop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
        if let context { return loop.makeSucceededFuture(context) }
        return NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [contexts, certificate = origin.certificate] in
            try contexts.context(showing: certificate)
        }
    }

    func objection(to context: ChannelHandlerContext) -> String? {
        trust.objection(to: try? context.pipeline.syncOperations.nioSSL_peerCertificate(), of: name)
    }
}

/// What TLS needs to know, made once for all origins that are shown no certificate: the roots of the machine are megabytes.
final class TLSContexts: Sendable {
    private let trust: TLSTrust
    private let protocols: [String]
    private let common = Mutex<NIOSSLContext?>(nil)

    /// - Parameter protocols: what is offered with ALPN.
    init(trust: TLSTrust, protocols: [String] = ["h2"]) {
        (self.trust, self.protocols) = (trust, protocols)
    }

    /// Takes its time, and waits for whoever makes the same: not on a loop.
    func context(showing certificate: ClientCertificate?) throws -> NIOSSLContext {
        if let certificate { return try NIOSSLContext(configuration: trust.configuration(certificate: certificate, protocols: protocols)) }
        return try common.withLock { common in
            if let common { return common }
            let made = try NIOSSLContext(configuration: trust.configuration(certificate: nil, protocols: protocols))
            common = made
            return made
        }
    }
}
