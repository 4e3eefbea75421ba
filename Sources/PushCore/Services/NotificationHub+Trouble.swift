/// What keeps a hub from delivering on a platform just now.
package struct DeliveryTrouble: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The push service answers nobody, or refuses the hub's credential: nothing is sent to it before `nextTry`. That of browsers has
        /// an origin.
        case openCircuit(origin: String?, nextTry: Timestamp, block: CredentialBlock? = nil)
        /// Most handles are not those of the credential. Says what to do; dead handles are not believed meanwhile.
        case mixUp(String, since: Timestamp)
    }

    package var platform: Platform
    package var kind: Kind

    package init(_ platform: Platform, _ kind: Kind) { (self.platform, self.kind) = (platform, kind) }
}

extension NotificationHub {
    /// By platform; none where all is well.
    package func troubles() -> [DeliveryTrouble] { pipeline.troubles() }
}
