import Logging
import PushCore
import Storage

extension PushServer {
    /// Puts a backup in the place of everything, while requests are told to wait.
    ///
    /// - Parameter renews: whether secrets of the backup that the server's key does not open get new values.
    /// - Returns: what was renewed.
    func restore(_ path: String, renewing renews: Bool) async throws(PushError) -> RenewedSecrets {
        let (storage, log, flows) = (storage, log, flows)
        let secrets: LostSecrets = renews ? .renewed(at: SystemClock().now) : .refused
        // Where the log is damaged, a backup is the way out.
        let end = try? await storage.auditTrail.entries(before: nil, limit: 1, AuditFilter()).first
        let renewed: RenewedSecrets
        do throws(PushError) {
            renewed = try await namespace.restore({ [labSessions] in labSessions?.lab.attended(storage.namespace) ?? storage.namespace }) {
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
        await keepGuard()
        await checkBackend()
        return renewed
    }

    private func goOn(_ flows: FlowDispatcher, _ storage: any StorageEngine) async {
        do throws(PushError) {
            try await flows.goOn(with: storage.runs)
        } catch {
            log.error("flows are not started any more until the next start: \(error.message)")
        }
    }
}
