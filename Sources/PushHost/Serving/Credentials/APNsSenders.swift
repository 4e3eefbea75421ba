import Delivery
import PushCore
import Synchronization

/// What sends to APNs: one provider token for each team and key, whichever hubs use it, and connections of their own for each
/// certificate, which they show.
final class APNsSenders: Sendable {
    private let pushes: any PushBatchTransport
    private let connect: @Sendable (ClientIdentity?) -> HTTPClientTransport
    private let clock: any HubClock
    private let random: any RandomSource
    private let tokens: ProviderTokenCache
    /// For broadcast channels, by the fingerprints of what they show; empty where that is nothing.
    private let transports = Mutex<[String: HTTPClientTransport]>([:])

    /// - Parameters:
    ///   - pushes: for notifications.
    ///   - connect: makes a transport for broadcast channels, which shows this where there is something to show.
    init(
        pushes: any PushBatchTransport, connect: @escaping @Sendable (ClientIdentity?) -> HTTPClientTransport, clock: any HubClock,
        random: any RandomSource, tokens: ProviderTokenCache
    ) {
        (self.pushes, self.connect, self.clock, self.random) = (pushes, connect, clock, random)
        self.tokens = tokens
    }

    func connector(_ settings: APNsSettings) throws(PushError) -> any Connector {
        try APNsConnector(settings: settings, transport: pushes, clock: clock, token: try tokens.token(for: settings))
    }

    func channels(_ settings: APNsSettings) throws(PushError) -> APNsChannels {
        try APNsChannels(
            settings: settings, transport: transport(for: settings), clock: clock, random: random, token: try tokens.token(for: settings))
    }

    /// Where pushes with these settings really go: host and port.
    func destination(_ settings: APNsSettings) -> String { pushes.destination(of: PushOrigin(authority: settings.environment.host)) }

    /// When the token that is used with these settings was signed; nil where there is none yet.
    func tokenIssued(_ settings: APNsSettings) -> Timestamp? { tokens.issued(settings) }

    private func transport(for settings: APNsSettings) -> any PushTransport {
        let identity = settings.certificate?.identity
        let name = identity?.fingerprint ?? ""
        return transports.withLock { transports in
            if let known = transports[name] { return known }
            let made = connect(identity)
            transports[name] = made
            return made
        }
    }

    /// Closes all connections that are not the server's.
    func shutdown() async {
        await pushes.shutdown()
        let transports = transports.withLock { transports in
            defer { transports = [:] }
            return Array(transports.values)
        }
        for transport in transports { await transport.shutdown() }
    }
}
