import Logging
import PushBackend
import PushHub
import PushLab
import PushModel
import PushRuntime
import Storage

/// Backs up and restores the data of a running server.
struct ServerBackups: Sendable {
    let components: ServerComponents
    let context: ServerContext

    /// Writes a backup of all data, including keys, to a file of the data folder.
    func make(_ name: String) async throws(PushError) {
        try await components.storage.engine.backup(to: context.folder.file(name))
        await components.ownerAudit.noteBackup()
    }

    /// Replaces all data by a backup in the data folder. Requests are rejected as retryable meanwhile.
    ///
    /// - Parameter renews: whether secrets of the backup that the server's key cannot open get new values.
    /// - Returns: the renewed secrets.
    func restore(_ name: String, renewing renews: Bool) async throws(PushError) -> RenewedSecrets {
        let (path, storage, log) = (context.folder.file(name), components.storage.engine, context.log)
        let (namespace, flows) = (components.namespace, components.flows.dispatcher)
        let secrets: LostSecrets = renews ? .renewed(at: SystemClock().now) : .refused
        // A damaged audit log must not prevent the restore.
        let end = try? await storage.auditTrail.entries(before: nil, limit: 1, AuditFilter()).first
        let renewed: RenewedSecrets
        do throws(PushError) {
            renewed = try await namespace.restore({ [context] in context.lab?.forLab(storage.namespace) ?? storage.namespace }) {
                willReplace throws(PushError) in
                try await storage.restore(from: path, secrets) {
                    log.notice("a backup is being restored")
                    await flows.stop()
                    await willReplace()
                }
            }
        } catch {
            await resume(flows, storage)
            var error = error
            // The client knows the file by its name.
            error.message = error.message.replacing(path, with: name)
            throw error
        }
        await resume(flows, storage)
        log.notice("the backup was restored")
        await components.storage.health.renew()
        await components.ownerAudit.noteRestoration(end)
        await components.ownerAudit.note(renewed)
        await components.approvals.maintain()
        await components.backend.check(namespace)
        return renewed
    }

    private func resume(_ flows: FlowDispatcher, _ storage: any StorageEngine) async {
        do throws(PushError) {
            try await flows.resume(with: storage.runs)
        } catch {
            context.log.error("no more flows run until the server restarts: \(error.message)")
        }
    }
}
