import Delivery
import PushCore
import Synchronization

/// The provider tokens of APNs, one for each team and key, whichever hubs and connectors use it.
///
/// Apple counts the tokens of a team and refuses all of them where there are too many, so that hubs and connectors with the same key
/// must not each sign their own. They are stored: a process that starts goes on with the token of the process before.
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

    /// The token that is sent with these settings; nil with a certificate. Throws `credential.invalid`.
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

    /// When the token that is used with these settings was signed; nil where there is none yet.
    func issued(_ settings: APNsSettings) -> Timestamp? {
        settings.signingKey.flatMap { own in tokens.withLock { $0[Key(own)] } }?.issued
    }
}
