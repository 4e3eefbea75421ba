import Logging
import Metrics
import PushModel
import PushRuntime
import Storage

/// Checks that the database of a running server is writable and undamaged, and that its files are in place, for probes, the log and metrics.
package final class DatabaseHealth: Sendable {
    /// Interval between checks of all pages of the database.
    static let period = Duration.seconds(86_400)

    private let storage: any StorageEngine
    private let clock: any HubClock
    private let log: Logger
    private let readiness: Readiness

    /// - Parameter storage: has the database of the data folder open.
    init(_ storage: any StorageEngine, _ context: ServerContext) {
        let path = context.folder.database
        (self.storage, clock, log) = (storage, context.clock, context.log)
        let opened = FileIdentity(path)
        readiness = Readiness(clock: clock, log: log) { () throws(PushError) in
            // Writes to a deleted or replaced file succeed, but the data is lost.
            guard FileIdentity(path) == opened else {
                throw PushError(
                    "storage.unavailable", "the database \(path) was removed or replaced: everything written now is lost",
                    hint: "take a backup now with pushhost hub backup, stop the server, and restore the backup", status: 503)
            }
            guard !FileIdentity.isEmpty(path) else {
                throw PushError(
                    "storage.unavailable", "the database \(path) was emptied: everything written now is lost",
                    hint: "stop the server and restore a backup with pushhost hub restore FILE", status: 503)
            }
            if let damage = storage.damage { throw damage }
            // Checks the write-ahead log too.
            try await storage.checkWriting()
        }
    }

    /// Why the server is not ready; nil if it is. Contains no details of the machine, because the endpoint is public.
    var reasonNotReady: String? {
        get async {
            if await readiness.isReady() { return nil }
            return storage.damage == nil
                ? "the storage is not writable; see the server's log" : "the database is damaged; see the server's log"
        }
    }

    /// Checks and logs a failure, even if no probe asks.
    package func check() async { _ = await readiness.isReady() }

    /// Checks again immediately, after a backup was restored.
    func renew() async { await readiness.renew() }

    /// Checks all pages at the start and then once a day, until cancelled.
    package func checkPages() async {
        repeat {
            do throws(PushError) {
                try await storage.checkPages()
            } catch  where error.code == "storage.corrupt" {
                await readiness.renew()
            } catch {
                if !Task.isCancelled { log.warning("cannot check the pages of the database: \(error.message)") }
            }
        } while (try? await clock.sleep(until: clock.now + Self.period)) != nil
    }

    /// Sets `pushhost_database_damaged`: 1 after a damaged page was found, until a backup is restored.
    func measure() { Meter(label: "pushhost_database_damaged").set(storage.damage == nil ? 0 : 1) }
}
