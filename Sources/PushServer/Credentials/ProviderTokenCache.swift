import Delivery
import PushModel
import Synchronization

/// Caches APNs provider tokens, one per team and key, shared by all hubs and connectors.
///
/// Apple rejects all tokens of a team that signs too many, so hubs and connectors with the same key must share one. Tokens are stored: a
/// restarted process reuses the token of the previous one.
final class ProviderTokenCache: Sendable {
    private struct Key: Hashable {
        let team: String
        let key: String
        let text: Secret

        init(_ own: APNsSigningKey) { (team, key, text) = (own.teamID, own.keyID, own.privateKey) }
    }

    private let store: any ProviderTokenStore
    private let clock: any HubClock
    private let tokens = Mutex<[Key: APNsProviderToken]>([:])

    init(store: any ProviderTokenStore, clock: any HubClock) { (self.store, self.clock) = (store, clock) }

    /// The provider token for these settings; nil if they use a certificate. Throws `credential.invalid`.
    func token(for settings: APNsSettings) throws(PushError) -> APNsProviderToken? {
        guard settings.certificate == nil, let own = settings.signingKey else { return nil }
        if let known = tokens.withLock({ $0[Key(own)] }) { return known }
        let made = try APNsProviderToken(settings: settings, clock: clock, store: store)
        return tokens.withLock { tokens in
            let first = tokens[Key(own)] ?? made
            tokens[Key(own)] = first
            return first
        }
    }

    /// When the provider token for these settings was signed; nil if there is none yet.
    func issued(_ settings: APNsSettings) -> Timestamp? {
        settings.signingKey.flatMap { own in tokens.withLock { $0[Key(own)] } }?.issued
    }
}
