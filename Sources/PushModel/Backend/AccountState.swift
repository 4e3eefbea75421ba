/// The change by which a backend made an account available.
package enum AccountState: Sendable, Equatable {
    case created
    case exists
    /// Accounts are managed elsewhere; only `login` checks them.
    case notManaged
}
