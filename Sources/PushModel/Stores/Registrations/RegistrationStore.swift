/// Stores a hub's registrations and installations by row: small numbers, almost without gaps, that the hub assigns and reuses.
///
/// Errors: `storage.unavailable` (503) if nothing was stored.
package protocol RegistrationStore: Sendable {
    /// Passes all stored data to a reader: installations in row order, registrations in row order, then the rest. Unreadable rows are
    /// reported to the reader and left unchanged. Returns the reader.
    func load<Reader: StoredHubReader>(into reader: Reader) async throws(PushError) -> Reader
    /// The registrations in these rows, in row order. Empty rows are skipped.
    ///
    /// Throws `storage.corrupt` if one of them is unreadable.
    func registrations(at rows: [UInt32]) async throws(PushError) -> [RegistrationRow]
    /// The installations in these rows, in row order. They have their own row numbers.
    func installations(at rows: [UInt32]) async throws(PushError) -> [InstallationRow]
    /// The tags of at most `limit` registrations, in row order: those after a row, or from the first if nil.
    ///
    /// Invalid tags are left out.
    func tags(behind row: UInt32?, limit: Int) async throws(PushError) -> [TagsRow]
    /// Stores a change in one transaction. Returns when it is as durable as the store can make it.
    func commit(_ change: RegistrationChange) async throws(PushError)
}
