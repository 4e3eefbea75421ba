import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import PushCore
import ServiceLifecycle

/// Listens on one port: plain HTTP/1.1, or TLS where ALPN chooses HTTP/2 or HTTP/1.1.
package struct WebServer: Sendable {
    /// Bytes of all header fields of a request.
    static let headerLimit = 32 << 10

    /// Runs until it is told to stop; then finishes the requests that have begun.
    package let service: any Service

    /// - Parameters:
    ///   - address: with port 0 it takes a free one.
    ///   - tls: nil for plain HTTP.
    ///   - connections: of all ports together.
    ///   - onRunning: is told the port as soon as requests are taken; 0 for a socket that has none.
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
                availableConnectionsDelegate: PortDoor(connections: connections)),
            onServerRunning: { channel in
                connections.watch(channel)
                do {
                    try await AcceptErrors.watch(channel, log)
                } catch {
                    log.error("a port ends with the first connection that it cannot take: \(error)")
                }
                await onRunning(channel.localAddress?.port ?? 0)
            }, logger: log.quieted)
    }
}

extension Logger {
    /// The library's own lines are for whoever looks for a fault: what it calls errors is thrown, too, and told in other words.
    fileprivate var quieted: Logger {
        var logger = self
        if logLevel > .debug { logger.logLevel = .critical }
        return logger
    }
}
