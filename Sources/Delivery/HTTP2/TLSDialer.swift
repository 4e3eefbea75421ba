import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A host that all connections go to instead of those that requests name.
package struct PushRoute: Sendable {
    package var host: String
    package var port: Int
    /// The name that its certificate must have; `nil` for the host of the request.
    package var name: String?

    package init(host: String, port: Int, name: String? = nil) {
        self.host = host
        self.port = port
        self.name = name
    }

    package var destination: String { "\(host):\(port)" }
}

/// Connects to one origin over TCP and TLS. Confined to one event loop.
final class TLSDialer: PushDialer {
    private let origin: PushOrigin
    private let route: PushRoute?
    private let trust: TLSTrust
    private let limits: HTTP2Limits
    private let network: PublicNetwork?
    private let contexts: TLSContexts
    private var context: NIOSSLContext?

    /// - Parameters:
    ///   - network: Rejects addresses that are not public; `nil` allows all.
    ///   - contexts: TLS contexts with the same trust, shared by all dialers.
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
                // The name may resolve differently since the check, so check the connected address before sending anything.
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

    /// Checks the addresses of the host before anything is sent.
    private func look(on loop: any EventLoop) -> EventLoopFuture<Void> {
        guard let network else { return loop.makeSucceededVoidFuture() }
        return loop.makeFutureWithTask { [host = origin.host] in try await network.check(host) }
    }

    /// Loads the system's trust roots, which is slow, so not on the event loop.
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

/// TLS contexts. All origins without a client certificate share one, because the system's trust roots take megabytes.
final class TLSContexts: Sendable {
    private let trust: TLSTrust
    private let protocols: [String]
    private let common = Mutex<NIOSSLContext?>(nil)

    /// - Parameter protocols: Offered with ALPN.
    init(trust: TLSTrust, protocols: [String] = ["h2"]) {
        (self.trust, self.protocols) = (trust, protocols)
    }

    /// Slow, and blocks while another thread creates the same context, so not for an event loop.
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
