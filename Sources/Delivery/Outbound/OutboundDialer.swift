import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PushModel
import Synchronization

/// Opens a connection for each request, only to addresses that have been checked.
struct OutboundDialer: Sendable {
    /// The limits of one exchange.
    struct Terms: Sendable {
        var permit: OutboundAllowlist.Permit
        var deadline: Timestamp
        /// Maximum size of the response body, in bytes.
        var maximumAnswer: Int
        var followsRedirects: Bool
    }

    let network: PublicNetwork
    let contexts: TLSContexts
    let clock: any HubClock
    let group: any EventLoopGroup

    /// Tries the addresses in order until one accepts a connection. Each gets an equal share of the remaining time.
    func exchange(_ message: OutboundMessage, at addresses: [SocketAddress], _ terms: Terms) async throws(PushError) -> OutboundResponse {
        var failure = PushError.outboundUnreachable(message.endpoint, "its name could not be resolved")
        let tls = try await tls(message)
        for (index, address) in addresses.enumerated() {
            let others = addresses.count - index - 1
            // The last address needs no share: the deadline of the request applies.
            let share = others == 0 ? OutboundRequest.timeouts.upperBound * 2 : (terms.deadline - clock.now) / (others + 1)
            let canceller = ConnectionCanceller()
            do {
                return try await withTaskCancellationHandler {
                    try await connect(address, within: share, canceller) { try begin(message, on: $0, tls, terms) }.get()
                } onCancel: {
                    canceller.cut()
                }
            } catch let missed as Missed {
                if Task.isCancelled { throw .outboundCancelled(message.endpoint) }
                failure = .outbound(missed.error, message.endpoint)
            } catch {
                throw Task.isCancelled ? .outboundCancelled(message.endpoint) : .outbound(error, message.endpoint)
            }
        }
        throw failure
    }

    /// The connection could not be established.
    private struct Missed: Error {
        let error: any Error
    }

    /// Connects, then calls `begin` and returns its future. Throws `Missed` if the connection fails, and rethrows the errors of `begin`.
    private func connect(
        _ address: SocketAddress, within time: Duration, _ canceller: ConnectionCanceller,
        begin: @escaping @Sendable (any Channel) throws -> EventLoopFuture<OutboundResponse>
    ) async throws -> EventLoopFuture<OutboundResponse> {
        let loop = group.next()
        // Everything runs on the event loop: a callback added from another thread may run after the first bytes of a fast server, which
        // would then be lost.
        return try await loop.flatSubmit {
            ClientBootstrap(group: loop)
                .connectTimeout(max(.milliseconds(1), TimeAmount(time)))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    canceller.hold(channel)
                        ? channel.eventLoop.makeSucceededVoidFuture() : channel.eventLoop.makeFailedFuture(CancellationError())
                }
                .connect(to: address)
                .flatMapErrorThrowing { throw Missed(error: $0) }
                .flatMapThrowing { channel in
                    do {
                        return try begin(channel)
                    } catch {
                        channel.close(promise: nil)
                        throw error
                    }
                }
        }.get()
    }

    /// Runs on the channel's event loop, before anything is sent or read.
    private func begin(
        _ message: OutboundMessage, on channel: any Channel, _ tls: NIOSSLContext?, _ terms: Terms
    ) throws -> EventLoopFuture<OutboundResponse> {
        if terms.permit == .publicAddresses {
            guard (try? network.check(channel)) != nil, !Self.staysHere(from: channel.localAddress, to: channel.remoteAddress) else {
                throw PushError.outboundPrivate(message)
            }
        }
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            // Without a server name, the certificate is checked against the connected address.
            let name = OutboundHost.isNumeric(message.address.host) ? nil : message.address.host
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
        }
        try pipeline.addHTTPClientHandlers(decoderLimitConfiguration: OutboundExchange.decoderLimits)
        let promise = channel.eventLoop.makePromise(of: OutboundResponse.self)
        let exchange = OutboundExchange(
            message, maximumAnswer: terms.maximumAnswer, followsRedirects: terms.followsRedirects, promise: promise)
        do {
            try pipeline.addHandler(exchange)
        } catch {
            promise.fail(error)
            throw error
        }
        return promise.futureResult
    }

    /// Whether this machine connects to itself through one of its public addresses. A firewall may hide the services there from others.
    static func staysHere(from local: SocketAddress?, to remote: SocketAddress?) -> Bool { local?.ipAddress == remote?.ipAddress }

    /// Returns `nil` for plain HTTP. Loads the system's trust roots, which is slow, so not on an event loop.
    private func tls(_ message: OutboundMessage) async throws(PushError) -> NIOSSLContext? {
        guard message.address.scheme == "https" else { return nil }
        do {
            return try await NIOThreadPool.singleton.runIfActive { [contexts] in try contexts.context(showing: nil) }
        } catch {
            throw .outbound(error, message.endpoint)
        }
    }
}

/// Closes a connection on cancellation, even while it is being established.
private final class ConnectionCanceller: Sendable {
    private let state = Mutex<(channel: (any Channel)?, isCut: Bool)>((nil, false))

    /// Returns `false` if it has been cut already.
    func hold(_ channel: any Channel) -> Bool {
        state.withLock { state in
            if !state.isCut { state.channel = channel }
            return !state.isCut
        }
    }

    func cut() {
        let channel = state.withLock { state in
            state.isCut = true
            return state.channel
        }
        channel?.cut()
    }
}
