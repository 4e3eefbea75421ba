import PushModel
import Synchronization

/// The circuit breakers of a hub's push services, for one set of connectors and credentials.
///
/// Each platform always has one. Push services of browsers have one only while they fail, because origins come from devices and must not
/// fill the memory.
final class CircuitBreakers: Sendable {
    /// Maximum number of breakers for push services of browsers.
    static let mostOrigins = 1_000
    /// How long after its next-try time a browser's breaker is forgotten. If something waited for it, it would have been tried by then.
    static let memory: Duration = .seconds(3600)

    private let platforms: [Platform: CircuitBreaker]
    private let origins = Mutex<[String: CircuitBreaker]>([:])

    init(_ platforms: Set<Platform>) {
        self.platforms = Dictionary(uniqueKeysWithValues: platforms.map { ($0, CircuitBreaker()) })
    }

    /// The breaker of a service; nil for a browser's service without failures.
    subscript(service: PushService) -> CircuitBreaker? {
        guard service.isOne else { return nil }
        guard let origin = service.origin else { return platforms[service.platform] }
        return origins.withLock { $0[origin] }
    }

    /// Records the verdicts of a batch.
    func note(_ verdicts: [Verdict], of service: PushService, now: Timestamp) -> CircuitBreaker.Event? {
        guard service.isOne else { return nil }
        guard let origin = service.origin else { return platforms[service.platform]?.note(verdicts, now: now) }
        return origins.withLock { table in
            guard let breaker = table[origin] ?? Self.added(to: &table, origin, now) else { return nil }
            let event = breaker.note(verdicts, now: now)
            if breaker.isAtRest { table[origin] = nil }
            return event
        }
    }

    /// Adds a breaker. If the table is full, it replaces one that is not open or can be forgotten; nil if there is none.
    private static func added(to table: inout [String: CircuitBreaker], _ origin: String, _ now: Timestamp) -> CircuitBreaker? {
        if table.count >= mostOrigins {
            guard let one = table.first(where: { $0.value.nextTry.map { isForgotten($0, now) } ?? true })?.key else { return nil }
            table[one] = nil
        }
        let breaker = CircuitBreaker()
        table[origin] = breaker
        return breaker
    }

    private static func isForgotten(_ nextTry: Timestamp, _ now: Timestamp) -> Bool { nextTry + memory < now }

    /// The open circuits and the times of their next tries, by platform, then by that time.
    func open(_ now: Timestamp) -> [(service: PushService, nextTry: Timestamp, block: CredentialBlock?)] {
        let many = origins.withLock { table in
            table = table.filter { !($0.value.nextTry.map { Self.isForgotten($0, now) } ?? false) }
            return table
        }
        let all =
            platforms.compactMap { platform, breaker in breaker.nextTry.map { (PushService(platform), $0, breaker.block) } }
            + many.compactMap { origin, breaker in breaker.nextTry.map { (PushService(.browser, origin: origin), $0, breaker.block) } }
        return all.sorted { ($0.0.platform, $0.1, $0.0) < ($1.0.platform, $1.1, $1.0) }
    }
}
