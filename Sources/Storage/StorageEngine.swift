import PushCore

/// Everything that a server keeps: its hubs and their keys, its accounts, its secure payloads, its tokens for push services,
/// what its plugins remember, who did what, what waits for leave, the runs of its flows.
///
/// Errors: `storage.unavailable` (503) where nothing could be kept or read just now; `storage.corrupt` (500) for a row that means
/// nothing, by its name; `storage.conflict` (500) where a number or an id is in use that the caller gave out twice.
package protocol StorageEngine: Sendable {
    var namespace: any NamespaceStore { get }
    var accounts: any AccountStore { get }
    var securePayloads: any SecurePayloadStore { get }
    var providerTokens: any ProviderTokenStore { get }
    var keyValues: any KeyValueSpaces { get }
    var auditTrail: any AuditTrail { get }
    /// Those of what is kept now: whoever has them goes on with others after a backup was restored.
    var runs: any RunStore { get }
    var approvals: any ApprovalStore { get }

    /// Copies everything as it is at one moment to a new file, while the engine is used.
    ///
    /// Throws `storage.backup_exists` (409) where the path is taken, `storage.memory` (400) where there is nothing to copy. Where
    /// it fails, no file is left.
    func backup(to path: String) async throws(PushError)
    /// Puts what a backup holds in the place of everything, in one step. Whoever has loaded a hub loads it again, from
    /// `namespace`: stores from before are `storage.unavailable`.
    ///
    /// - Parameters:
    ///   - secrets: what becomes of those in the backup that do not open.
    ///   - whenChecked: called when the backup is known to be good, and before anything changes.
    ///
    /// - Returns: what was renewed.
    /// Throws `storage.not_found` (404), `storage.foreign_file`, `storage.newer_schema`, `storage.sealed`, `storage.corrupt` or
    /// `storage.memory` (400) for a file that cannot be used; then nothing has changed.
    func restore(
        from path: String, _ secrets: LostSecrets, whenChecked: @Sendable () async -> Void
    ) async throws(PushError) -> RenewedSecrets
    /// Writes a little that changes nothing. Throws `storage.unavailable` (503) where new work could not be kept.
    func checkWriting() async throws(PushError)
    /// `storage.corrupt`, once a damaged page was met, until a backup is restored.
    var damage: PushError? { get }
    /// Looks for damaged pages beside what else is done; takes seconds for each gigabyte. Ends early if its task is cancelled.
    ///
    /// Throws `storage.corrupt`, which is `damage` from then on, and `storage.unavailable` (503) where it cannot look.
    func checkPages() async throws(PushError)
    /// Waits for what is under way. Whatever is asked for later is `storage.unavailable`.
    func close() async throws(PushError)
}

extension StorageEngine {
    package func restore(from path: String, whenChecked: @Sendable () async -> Void = {}) async throws(PushError) {
        _ = try await restore(from: path, .refused, whenChecked: whenChecked)
    }
}
