import Delivery
import PushModel
import Synchronization

/// Creates the APNs connectors. All hubs with the same team and key share one provider token; each certificate has its own connections.
final class APNsSenders: Sendable {
    private let pushes: any PushBatchTransport
    private let connect: @Sendable (ClientIdentity?) -> HTTPClientTransport
    private let clock: any HubClock
    private let random: any RandomSource
    private let tokens: ProviderTokenCache
    /// Transports for broadcast channels, by the fingerprint of the client certificate; the empty string for none.
    private let transports = Mutex<[String: HTTPClientTransport]>([:])

    /// - Parameters:
    ///   - pushes: the transport for notifications.
    ///   - connect: creates a transport for broadcast channels, with a client certificate if there is one.
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

    /// The host and port that pushes with these settings go to.
    func destination(_ settings: APNsSettings) -> String { pushes.destination(of: PushOrigin(authority: settings.environment.host)) }

    /// When the provider token for these settings was signed; nil if there is none yet.
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

    /// Closes all outgoing connections to APNs.
    func shutdown() async {
        await pushes.shutdown()
        let transports = transports.withLock { transports in
            defer { transports = [:] }
            return Array(transports.values)
        }
        for transport in transports { await transport.shutdown() }
    }
}
