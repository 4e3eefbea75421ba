/// An attempt to read a secure payload.
package struct SecureRead: Sendable, Equatable {
    package enum Result: String, Sendable, CaseIterable {
        case granted
        /// By somebody else than the addressee.
        case forbidden
        case expired
        /// It had been read as often as its sender allowed.
        case exhausted
        case revoked
        /// A plugin did not let its addressee have it, or should have been asked and could not.
        case vetoed
    }

    package var time: Timestamp
    package var username: String
    package var result: Result

    package init(time: Timestamp, username: String, result: Result) {
        self.time = time
        self.username = username
        self.result = result
    }
}
