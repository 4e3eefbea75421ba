import Synchronization

/// The circuit breakers of a hub's push services, as long as its connectors and credentials stay the same.
///
/// A platform's is always there. Those of browsers' push services are, while these fail: origins come from devices, and must not fill
/// the memory.
final class Circuits: Sendable {
    /// Of browsers' push services.
    static let mostOrigins = 1_000
    /// How long after the moment of its next try one of these is forgotten: nothing waits for it any more, or it would have been tried.
    static let memory: Duration = .seconds(3600)

    private let platforms: [Platform: CircuitBreaker]
    private let origins = Mutex<[String: CircuitBreaker]>([:])

    init(_ platforms: Set<Platform>) {
        self.platforms = Dictionary(uniqueKeysWithValues: platforms.map { ($0, CircuitBreaker()) })
    }

    /// Nil for a service that has nothing against it.
    subscript(service: PushService) -> CircuitBreaker? {
        guard service.isOne else { return nil }
        guard let origin = service.origin else { return platforms[service.platform] }
        return origins.withLock { $0[origin] }
    }

    /// Told how a batch ended.
    func note(_ verdicts: [Verdict], of service: PushService, now: Timestamp) -> CircuitBreaker.News? {
        guard service.isOne else { return nil }
        guard let origin = service.origin else { return platforms[service.platform]?.note(verdicts, now: now) }
        return origins.withLock { table in
            guard let breaker = table[origin] ?? Self.added(to: &table, origin, now) else { return nil }
            let news = breaker.note(verdicts, now: now)
            if breaker.isAtRest { table[origin] = nil }
            return news
        }
    }

    /// Where there is no room, one that has failed and is not left in peace goes; nil where all are.
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

    /// Those that are left in peace, with the moment of the next try; by platform, and those of browsers by that moment.
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
