import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PushCore
import Synchronization

/// Makes a connection for each request, to one of the addresses that were looked at and to no other.
struct OutboundDialer: Sendable {
    /// What one exchange may take.
    struct Terms: Sendable {
        var permit: OutboundReach.Permit
        var deadline: Timestamp
        /// Bytes of the answer's body.
        var maximumAnswer: Int
        var followsRedirects: Bool
    }

    let network: PublicNetwork
    let contexts: TLSContexts
    let clock: any HubClock
    let group: any EventLoopGroup

    /// Tries the addresses in their order until one of them takes a connection; of several, each has its share of the time.
    func exchange(_ message: OutboundMessage, at addresses: [SocketAddress], _ terms: Terms) async throws(PushError) -> OutboundAnswer {
        var failure = PushError.outboundUnreachable(message.place, "its name could not be resolved")
        let tls = try await tls(message)
        for (index, address) in addresses.enumerated() {
            let others = addresses.count - index - 1
            // Whoever is the last one tried is stopped by the deadline.
            let share = others == 0 ? OutboundRequest.timeouts.upperBound * 2 : (terms.deadline - clock.now) / (others + 1)
            let leash = Leash()
            do {
                return try await withTaskCancellationHandler {
                    try await connect(address, within: share, leash) { try begin(message, on: $0, tls, terms) }.get()
                } onCancel: {
                    leash.cut()
                }
            } catch let missed as Missed {
                if Task.isCancelled { throw .outboundCancelled(message.place) }
                failure = .outbound(missed.error, message.place)
            } catch {
                throw Task.isCancelled ? .outboundCancelled(message.place) : .outbound(error, message.place)
            }
        }
        throw failure
    }

    /// No connection came about.
    private struct Missed: Error {
        let error: any Error
    }

    /// What `begin` makes of the connection. Throws `Missed` where there is none, and whatever `begin` throws.
    private func connect(
        _ address: SocketAddress, within time: Duration, _ leash: Leash,
        begin: @escaping @Sendable (any Channel) throws -> EventLoopFuture<OutboundAnswer>
    ) async throws -> EventLoopFuture<OutboundAnswer> {
        let loop = group.next()
        // On the loop from the start: what is added to a future from elsewhere may come after what a hasty peer has said, which nobody
        // would read then.
        return try await loop.flatSubmit {
            ClientBootstrap(group: loop)
                .connectTimeout(max(.milliseconds(1), TimeAmount(time)))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    leash.hold(channel)
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

    /// On the channel's loop, before anything was sent or read.
    private func begin(
        _ message: OutboundMessage, on channel: any Channel, _ tls: NIOSSLContext?, _ terms: Terms
    ) throws -> EventLoopFuture<OutboundAnswer> {
        if terms.permit == .publicAddresses {
            guard (try? network.check(channel)) != nil, !Self.staysHere(from: channel.localAddress, to: channel.remoteAddress) else {
                throw PushError.outboundPrivate(message)
            }
        }
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            // A certificate for an address is compared with the one that was connected to.
            let name = OutboundHost.isNumeric(message.address.host) ? nil : message.address.host
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
        }
        try pipeline.addHTTPClientHandlers(decoderLimitConfiguration: OutboundExchange.decoderLimits)
        let promise = channel.eventLoop.makePromise(of: OutboundAnswer.self)
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

    /// Whether a connection is one of this machine with itself, by a public address that it has: services listen there that a firewall
    /// keeps from others.
    static func staysHere(from local: SocketAddress?, to remote: SocketAddress?) -> Bool { local?.ipAddress == remote?.ipAddress }

    /// Nil for plain HTTP. Reading the roots of the machine takes its time: not on a loop.
    private func tls(_ message: OutboundMessage) async throws(PushError) -> NIOSSLContext? {
        guard message.address.scheme == "https" else { return nil }
        do {
            return try await NIOThreadPool.singleton.runIfActive { [contexts] in try contexts.context(showing: nil) }
        } catch {
            throw .outbound(error, message.place)
        }
    }
}

/// What a connection is cut by, also while it is being made.
private final class Leash: Sendable {
    private let state = Mutex<(channel: (any Channel)?, isCut: Bool)>((nil, false))

    /// False where it has been cut before.
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
