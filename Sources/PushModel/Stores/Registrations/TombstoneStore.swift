/// Stores which registrations of a hub were removed. Registration changes add them (`RegistrationChange.removals`).
///
/// Errors: `storage.unavailable` (503).
package protocol TombstoneStore: Sendable {
    /// Removed registrations of an installation or with a handle, latest first, as long as their tombstones are stored.
    ///
    /// For registrations removed by versions that did not store this, only the ids are known.
    func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) async throws(PushError) -> [DeletedRegistration]
    /// Deletes the ids of at most `limit` registrations removed before `time`. Returns their number.
    func removeTombstones(before time: Timestamp, limit: Int) async throws(PushError) -> Int
}
