/// An attempt to read a secure payload.
package struct SecureRead: Sendable, Equatable {
    package enum Result: String, Sendable, CaseIterable {
        case granted
        /// The user is not the recipient.
        case forbidden
        case expired
        /// The maximum number of reads had been reached.
        case exhausted
        case revoked
        /// A plugin denied the read, or could not be called although it decides.
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
