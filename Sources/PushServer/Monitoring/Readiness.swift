import Logging
import PushModel

/// Checks whether the storage is writable, by writing to it. Results are cached for a few seconds.
actor Readiness {
    /// How long a result is cached.
    static let period: Duration = .seconds(5)

    private let clock: any HubClock
    private let log: Logger
    private let write: @Sendable () async throws(PushError) -> Void
    private var known: (isReady: Bool, until: Timestamp)?
    private var trial: Task<PushError?, Never>?
    /// The last logged failure. The same failure is logged only once.
    private var logged: String?

    /// - Parameter write: writes a small record; throws if it cannot be stored.
    init(clock: any HubClock, log: Logger, write: @escaping @Sendable () async throws(PushError) -> Void) {
        self.clock = clock
        self.log = log
        self.write = write
    }

    func isReady() async -> Bool {
        if let trial { return await trial.value == nil }
        if let known, clock.now < known.until { return known.isReady }
        let trial = Task { [write] () -> PushError? in
            do throws(PushError) {
                try await write()
                return nil
            } catch {
                return error
            }
        }
        self.trial = trial
        let failure = await trial.value
        report(failure)
        known = (failure == nil, clock.now + Self.period)
        self.trial = nil
        return failure == nil
    }

    /// Checks again, ignoring the cached result.
    func renew() async {
        known = nil
        _ = await isReady()
    }

    private func report(_ failure: PushError?) {
        defer { logged = failure?.message }
        guard let failure else {
            if logged != nil { log.notice("ready again") }
            return
        }
        guard failure.message != logged else { return }
        log.error("not ready: \(failure.message)\(failure.hint.map { "; \($0)" } ?? "")")
    }
}
