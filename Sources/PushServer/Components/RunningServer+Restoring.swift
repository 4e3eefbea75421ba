import Logging
import PushBackend
import PushHub
import PushLab
import PushModel
import PushRuntime
import Storage

extension RunningServer {
    /// Replaces all data by a backup. Requests are rejected as retryable meanwhile.
    ///
    /// - Parameter renews: whether secrets of the backup that the server's key cannot open get new values.
    /// - Returns: the renewed secrets.
    func restore(_ path: String, renewing renews: Bool) async throws(PushError) -> RenewedSecrets {
        let (storage, log, flows) = (storage, log, flows)
        let secrets: LostSecrets = renews ? .renewed(at: SystemClock().now) : .refused
        // A damaged audit log must not prevent the restore.
        let end = try? await storage.auditTrail.entries(before: nil, limit: 1, AuditFilter()).first
        let renewed: RenewedSecrets
        do throws(PushError) {
            renewed = try await namespace.restore({ [labSessions] in labSessions?.lab.forLab(storage.namespace) ?? storage.namespace }) {
                willReplace throws(PushError) in
                try await storage.restore(from: path, secrets) {
                    log.notice("a backup is being restored")
                    await flows.stop()
                    await willReplace()
                }
            }
        } catch {
            await goOn(flows, storage)
            throw error
        }
        await goOn(flows, storage)
        log.notice("the backup was restored")
        await database.renew()
        await audit.noteRestoration(end)
        await audit.note(renewed)
        await maintainApprovals()
        await checkBackend()
        return renewed
    }

    private func goOn(_ flows: FlowDispatcher, _ storage: any StorageEngine) async {
        do throws(PushError) {
            try await flows.goOn(with: storage.runs)
        } catch {
            log.error("no more flows run until the server restarts: \(error.message)")
        }
    }
}
