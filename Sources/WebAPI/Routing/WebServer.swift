import Hummingbird
package import HummingbirdCore
import HummingbirdHTTP2
package import Logging
import NIOCore
import NIOSSL
package import PushModel
package import ServiceLifecycle

/// A listener on one port: HTTP/1.1, or TLS with HTTP/2 or HTTP/1.1 chosen by ALPN.
package struct WebServer: Sendable {
    /// Maximum size of all header fields of a request in bytes.
    static let headerLimit = 32 << 10

    /// Runs until shutdown, then finishes the requests in progress.
    package let service: any Service

    /// - Parameters:
    ///   - address: Port 0 picks a free port.
    ///   - tls: Nil for plain HTTP.
    ///   - connections: The connections of all ports together.
    ///   - onRunning: Receives the port as soon as requests are accepted; 0 for a Unix domain socket.
    package init(
        address: BindAddress, responder: HubResponder, tls: TLSIdentity?, limits: ConnectionLimits, connections: Connections,
        log: Logger, onRunning: @escaping @Sendable (Int) async -> Void
    ) throws(PushError) {
        var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
        decoder.maxHeaderFieldSize = Self.headerLimit
        decoder.maxHeaderListSize = Self.headerLimit
        decoder.maxHeaderFieldCount = 200
        let http1 = HTTP1Channel.Configuration(
            additionalChannelHandlers: [RequestGuard(limits: limits) { responder.expectedAnswer(to: $0) }],
            httpDecoderConfiguration: decoder)
        let server: HTTPServerBuilder
        if let tls {
            let configuration: TLSConfiguration
            do {
                configuration = try tls.configuration()
            } catch {
                throw PushError("tls.unusable", "the certificate cannot be used: \(error)", hint: "check certificate and key")
            }
            server = HTTPServerBuilder { responder in
                GuardedChannel(
                    base: try HTTP2UpgradeChannel(
                        tlsConfiguration: configuration, configuration: .init(idleTimeout: limits.idle, streamConfiguration: http1),
                        responder: responder), limits: limits, connections: connections)
            }
        } else {
            server = HTTPServerBuilder { responder in
                GuardedChannel(
                    base: HTTP1Channel(responder: responder, configuration: http1), limits: limits, connections: connections)
            }
        }
        service = Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: address, serverName: nil, backlog: 1024,
                availableConnectionsDelegate: connections.acceptLimiter),
            onServerRunning: { channel in
                connections.watch(channel)
                do {
                    try await AcceptErrorHandler.watch(channel, log)
                } catch {
                    log.error("a port would close after the first connection that it cannot accept: \(error)")
                }
                await onRunning(channel.localAddress?.port ?? 0)
            }, logger: log.quieted)
    }
}

extension Logger {
    /// A copy that drops the library's own messages unless debugging: its errors are also thrown, and reported elsewhere.
    fileprivate var quieted: Logger {
        var logger = self
        if logLevel > .debug { logger.logLevel = .critical }
        return logger
    }
}
