import Delivery
import PushCore
import Synchronization

/// What sends to APNs: one provider token for each team and key, whichever hubs use it, and connections of their own for each
/// certificate, which they show.
final class APNsSenders: Sendable {
    private struct State {
        var tokens: [Key: APNsProviderToken] = [:]
        /// For broadcast channels, by the fingerprints of what they show; empty where that is nothing.
        var transports: [String: HTTPClientTransport] = [:]
    }

    private struct Key: Hashable {
        let team: String
        let key: String
        let text: Secret

        init(_ own: APNsSigningKey) { (team, key, text) = (own.teamID, own.keyID, own.privateKey) }
    }

    private let pushes: any PushBatchTransport
    private let connect: @Sendable (ClientIdentity?) -> HTTPClientTransport
    private let clock: any HubClock
    private let random: any RandomSource
    private let providerTokens: any ProviderTokenStore
    private let state = Mutex(State())

    /// - Parameters:
    ///   - pushes: for notifications.
    ///   - connect: makes a transport for broadcast channels, which shows this where there is something to show.
    init(
        pushes: any PushBatchTransport, connect: @escaping @Sendable (ClientIdentity?) -> HTTPClientTransport, clock: any HubClock,
        random: any RandomSource, providerTokens: any ProviderTokenStore
    ) {
        (self.pushes, self.connect, self.clock, self.random) = (pushes, connect, clock, random)
        self.providerTokens = providerTokens
    }

    func connector(_ settings: APNsSettings) throws(PushError) -> any Connector {
        try APNsConnector(settings: settings, transport: pushes, clock: clock, token: try token(for: settings))
    }

    func channels(_ settings: APNsSettings) throws(PushError) -> APNsChannels {
        try APNsChannels(
            settings: settings, transport: transport(for: settings), clock: clock, random: random, token: try token(for: settings))
    }

    /// Where pushes with these settings really go: host and port.
    func destination(_ settings: APNsSettings) -> String { pushes.destination(of: PushOrigin(authority: settings.environment.host)) }

    /// When the token that is used with these settings was signed; nil where there is none yet.
    func tokenIssued(_ settings: APNsSettings) -> Timestamp? {
        settings.signingKey.flatMap { own in state.withLock { $0.tokens[Key(own)] } }?.issued
    }

    private func token(for settings: APNsSettings) throws(PushError) -> APNsProviderToken? {
        guard let own = settings.signingKey else { return nil }
        if let known = state.withLock({ $0.tokens[Key(own)] }) { return known }
        let token = try APNsProviderToken(settings: settings, clock: clock, store: providerTokens)
        return state.withLock { state in
            let first = state.tokens[Key(own)] ?? token
            state.tokens[Key(own)] = first
            return first
        }
    }

    private func transport(for settings: APNsSettings) -> any PushTransport {
        let identity = settings.certificate?.identity
        let name = identity?.fingerprint ?? ""
        return state.withLock { state in
            if let known = state.transports[name] { return known }
            let made = connect(identity)
            state.transports[name] = made
            return made
        }
    }

    /// Closes all connections that are not the server's.
    func shutdown() async {
        await pushes.shutdown()
        let transports = state.withLock { state in
            defer { state.transports = [:] }
            return Array(state.transports.values)
        }
        for transport in transports { await transport.shutdown() }
    }
}
