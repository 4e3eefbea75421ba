/// What a backend did to make an account available.
package enum AccountState: Sendable, Equatable {
    case created
    case exists
    /// Accounts are managed elsewhere; only `login` checks them.
    case notManaged
}
