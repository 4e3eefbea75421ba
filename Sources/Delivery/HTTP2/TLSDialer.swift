import NIOCore
import NIOPosix
import NIOSSL

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
    private var context: NIOSSLContext?

    init(origin: PushOrigin, route: PushRoute?, trust: TLSTrust, limits: HTTP2Limits) {
        self.origin = origin
        self.route = route
        self.trust = trust
        self.limits = limits
    }

    private var name: String { route?.name ?? origin.host }

    func dial(on loop: any EventLoop) -> EventLoopFuture<any Channel> {
        tls(on: loop).assumeIsolated().flatMap { [self] context in
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

    /// Reading the roots of the machine takes its time: not on the loop.
    private func tls(on loop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
        if let context { return loop.makeSucceededFuture(context) }
        let configuration = trust.configuration(certificate: origin.certificate)
        return NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try NIOSSLContext(configuration: configuration) }
    }

    func objection(to context: ChannelHandlerContext) -> String? {
        trust.objection(to: try? context.pipeline.syncOperations.nioSSL_peerCertificate(), of: name)
    }
}
