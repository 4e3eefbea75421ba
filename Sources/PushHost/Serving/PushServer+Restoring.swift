import Logging
import PushCore
import Storage

extension PushServer {
    /// Puts a backup in the place of everything, while requests are told to wait.
    func restore(from path: String) async throws(PushError) {
        let (storage, log, flows) = (storage, log, flows)
        // Where the log is damaged, a backup is the way out.
        let end = try? await storage.auditTrail.entries(before: nil, limit: 1, AuditFilter()).first
        do throws(PushError) {
            try await namespace.restore({ [labSessions] in labSessions?.lab.attended(storage.namespace) ?? storage.namespace }) {
                willReplace throws(PushError) in
                try await storage.restore(from: path) {
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
        await keepGuard()
        await checkBackend()
    }

    private func goOn(_ flows: FlowDispatcher, _ storage: any StorageEngine) async {
        do throws(PushError) {
            try await flows.goOn(with: storage.runs)
        } catch {
            log.error("flows are not started any more until the next start: \(error.message)")
        }
    }
}
