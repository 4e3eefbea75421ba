import PushCore

/// What becomes of secrets that do not open because the key file is another.
package enum LostSecrets: Sendable {
    /// The database is refused with `storage.sealed`.
    case refused
    /// Access keys get new values, what cannot be made anew is removed.
    case renewed(at: Timestamp)
}

/// What was put in the place of secrets that did not open.
package struct RenewedSecrets: Sendable, Equatable {
    package struct Hub: Sendable, Equatable {
        package let name: String
        /// Names of access keys that have new values.
        package let keys: [String]
        /// Push credentials that were removed, by the names that Azure has for them.
        package let credentials: [String]
    }

    /// Names of access keys to the whole server that have new values.
    package var keys: [String] = []
    package var hubs: [Hub] = []
    /// Tokens for push services that were removed; new ones are made when they are needed.
    package var tokens = 0
    /// Values of plugins that were removed, by the names of their spaces.
    package var values: [String: Int] = [:]
    /// Import and export jobs that lost their addresses.
    package var jobs = 0

    package init() {}

    package var isEmpty: Bool { self == RenewedSecrets() }
}
