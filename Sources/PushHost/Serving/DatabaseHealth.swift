import Logging
import Metrics
import PushCore
import Storage

/// Whether the database of a running server can be written to and is whole: for probes, the log and the metrics.
final class DatabaseHealth: Sendable {
    /// How often all pages of the database are read and checked.
    static let period = Duration.seconds(86_400)

    private let storage: any StorageEngine
    private let clock: any HubClock
    private let log: Logger
    private let readiness: Readiness

    /// - Parameter path: of the database that the storage has open.
    init(_ storage: any StorageEngine, at path: String, clock: any HubClock, log: Logger) {
        (self.storage, self.clock, self.log) = (storage, clock, log)
        let opened = FileIdentity(path)
        readiness = Readiness(clock: clock, log: log) { () throws(PushError) in
            // Into a file that has lost its name everything can be written, and nobody finds it again.
            guard FileIdentity(path) == opened else {
                throw PushError(
                    "storage.unavailable", "the database \(path) was removed or replaced: what is written now is lost",
                    hint: "take a backup with pushhost hub backup now, end the server, and restore it", status: 503)
            }
            guard !FileIdentity.isEmpty(path) else {
                throw PushError(
                    "storage.unavailable", "the database \(path) was emptied: what is written now is lost",
                    hint: "stop the server, and put a backup in its place with pushhost hub restore FILE", status: 503)
            }
            if let damage = storage.damage { throw damage }
            try await storage.checkWriting()
        }
    }

    /// Nil where it is ready. Says nothing about the machine: anybody may ask.
    var reasonNotReady: String? {
        get async {
            if await readiness.isReady() { return nil }
            return storage.damage == nil
                ? "the server cannot keep what it is sent; its log says why" : "the server's database is damaged; its log says what to do"
        }
    }

    /// Logs why nothing can be stored, also while nobody asks.
    func check() async { _ = await readiness.isReady() }

    /// Checks anew, once a backup is restored.
    func renew() async { await readiness.renew() }

    /// Looks for damaged pages at the start and once a day, until it is cancelled.
    func checkPages() async {
        repeat {
            do throws(PushError) {
                try await storage.checkPages()
            } catch  where error.code == "storage.corrupt" {
                await readiness.renew()
            } catch {
                if !Task.isCancelled { log.warning("the pages of the database could not be checked: \(error.message)") }
            }
        } while (try? await clock.sleep(until: clock.now + Self.period)) != nil
    }

    /// `pushhost_database_damaged`: 1 once a damaged page was met, until a backup is restored.
    func measure() { Meter(label: "pushhost_database_damaged").set(storage.damage == nil ? 0 : 1) }
}
