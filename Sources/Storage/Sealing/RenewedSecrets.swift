package import PushModel

/// The action for secrets that cannot be opened with the current key file.
package enum LostSecrets: Sendable {
    /// Reject the database with `storage.sealed`.
    case refused
    /// Generate new access keys, and remove secrets that cannot be regenerated.
    case renewed(at: Timestamp)
}

/// The secrets that were replaced or removed because they could not be opened.
package struct RenewedSecrets: Sendable, Equatable {
    package struct Hub: Sendable, Equatable {
        package let name: String
        /// Names of access keys with new values.
        package let keys: [String]
        /// Push credentials that were removed, by their names in Azure.
        package let credentials: [String]
    }

    /// Names of the server's access keys with new values.
    package var keys: [String] = []
    package var hubs: [Hub] = []
    /// Number of provider tokens removed. New ones are created when needed.
    package var tokens = 0
    /// Number of plugin values removed, by space.
    package var values: [String: Int] = [:]
    /// Number of import and export jobs that lost their addresses.
    package var jobs = 0

    package init() {}

    package var isEmpty: Bool { self == RenewedSecrets() }
}
