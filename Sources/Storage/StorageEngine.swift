package import PushModel

/// Stores the data of a server: hubs and their keys, accounts, secure payloads, provider tokens, key-value spaces of plugins, audit
/// trail, approvals, and runs of flows.
///
/// Errors: `storage.unavailable` (503) if nothing can be read or written at present; `storage.corrupt` (500) for an unreadable row, with
/// its name; `storage.conflict` (500) for a number or id that the caller assigned twice.
package protocol StorageEngine: Sendable {
    var namespace: any NamespaceStore { get }
    var accounts: any AccountStore & SessionStore { get }
    var securePayloads: any SecurePayloadStore { get }
    var providerTokens: any ProviderTokenStore { get }
    var keyValues: any KeyValueSpaces { get }
    var auditTrail: any AuditTrail { get }
    /// Stores of the current content. After a backup was restored, callers must obtain new ones.
    var runs: any AutomationStore { get }
    var approvals: any ApprovalStore { get }

    /// Copies a consistent snapshot to a new file while the engine is in use.
    ///
    /// Throws `storage.backup_exists` (409) if the path exists, and `storage.memory` (400) if there is nothing to copy. After a failure, no
    /// file remains.
    func backup(to path: String) async throws(PushError)
    /// Replaces everything with the content of a backup, atomically. Callers that loaded hubs must load them again from `namespace`;
    /// earlier stores throw `storage.unavailable`.
    ///
    /// - Parameters:
    ///   - secrets: what to do with secrets in the backup that cannot be decrypted.
    ///   - whenChecked: called after the backup was checked and before anything changes.
    ///
    /// - Returns: the renewed secrets.
    /// Throws `storage.not_found` (404), `storage.foreign_file`, `storage.newer_schema`, `storage.sealed`, `storage.corrupt` or
    /// `storage.memory` (400) if the file cannot be used; then nothing has changed.
    func restore(
        from path: String, _ secrets: LostSecrets, whenChecked: @Sendable () async -> Void
    ) async throws(PushError) -> RenewedSecrets
    /// Writes a small amount of data that changes nothing. Throws `storage.unavailable` (503) if changes cannot be stored durably, and
    /// `storage.damaged` if stored changes are lost, which `damage` returns from then on.
    func checkWriting() async throws(PushError)
    /// `storage.corrupt` after a damaged page was found, or `storage.damaged` after changes were lost, until a backup is restored.
    var damage: PushError? { get }
    /// Checks for damaged pages during normal use. Takes seconds per gigabyte. Ends early if its task is cancelled.
    ///
    /// Throws `storage.corrupt`, which `damage` returns from then on, and `storage.unavailable` (503) if the check is not possible.
    func checkPages() async throws(PushError)
    /// Waits for operations in progress. Later ones throw `storage.unavailable`.
    func close() async throws(PushError)
}

extension StorageEngine {
    package func restore(from path: String, whenChecked: @Sendable () async -> Void = {}) async throws(PushError) {
        _ = try await restore(from: path, .refused, whenChecked: whenChecked)
    }
}
