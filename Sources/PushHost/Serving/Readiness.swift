import Logging
import PushCore

/// Whether the server can keep what it is sent: found out by writing, at most once in a few seconds, however many ask.
actor Readiness {
    /// For how long an answer holds.
    static let period: Duration = .seconds(5)

    private let clock: any HubClock
    private let log: Logger
    private let write: @Sendable () async throws(PushError) -> Void
    private var known: (isReady: Bool, until: Timestamp)?
    private var trial: Task<Bool, Never>?

    /// - Parameter write: writes a little, and throws where that cannot be kept.
    init(clock: any HubClock, log: Logger, write: @escaping @Sendable () async throws(PushError) -> Void) {
        self.clock = clock
        self.log = log
        self.write = write
    }

    func isReady() async -> Bool {
        if let trial { return await trial.value }
        if let known, clock.now < known.until { return known.isReady }
        let trial = Task { [write, log] in
            do throws(PushError) {
                try await write()
                return true
            } catch {
                log.error("not ready: \(error.message)")
                return false
            }
        }
        self.trial = trial
        let isReady = await trial.value
        known = (isReady, clock.now + Self.period)
        self.trial = nil
        return isReady
    }
}
