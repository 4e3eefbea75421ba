package import PushModel

/// A problem that keeps a hub from delivering on a platform.
package struct DeliveryIssue: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The push service does not respond, or rejects the hub's credential: nothing is sent to it before `nextTry`. `origin` names the
        /// push service of browsers.
        case openCircuit(origin: String?, nextTry: Timestamp, block: CredentialBlock? = nil)
        /// Most handles do not belong to the credential. The text says what to do. Meanwhile, invalid handles are not removed.
        case wrongEnvironment(String, since: Timestamp)
    }

    package var platform: Platform
    package var kind: Kind

    package init(_ platform: Platform, _ kind: Kind) { (self.platform, self.kind) = (platform, kind) }
}
