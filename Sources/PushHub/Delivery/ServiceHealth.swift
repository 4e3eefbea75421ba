import PushModel

/// The state of the hub's credentials and of the push services, as verdicts show it, for the current connectors and credentials.
struct ServiceHealth: Sendable {
    private let environment: HubEnvironment
    /// The hub's name.
    private let hub: String
    private let platforms: Set<Platform>
    private let circuits: CircuitBreakers
    private let gauges: [Platform: WrongEnvironmentDetector]

    init(_ environment: HubEnvironment, hub: String, _ platforms: Set<Platform>) {
        (self.environment, self.hub, self.platforms) = (environment, hub, platforms)
        circuits = CircuitBreakers(platforms)
        gauges = Dictionary(uniqueKeysWithValues: platforms.map { ($0, WrongEnvironmentDetector()) })
    }

    /// The circuit breaker of a service; nil if it has none.
    subscript(_ service: PushService) -> CircuitBreaker? { circuits[service] }

    /// Records what the verdicts of a batch say about the service, the hub's credential, and the headers of the group.
    func note(_ verdicts: [Verdict], of attempt: DeliveryRun.Attempt, in run: inout DeliveryRun) {
        noteCircuit(verdicts, of: attempt.service)
        noteWrongEnvironment(verdicts, of: attempt.service.platform)
        guard verdicts.count >= CircuitBreaker.threshold, case .rejected(let rejection)? = verdicts.last, attempt.service.isOne
        else { return }
        if verdicts.allSatisfy(\.isCredentialRefusal) {
            run.refusals[attempt.service] = rejection
        } else if verdicts.allSatisfy(\.isHeaderRefusal) {
            run.groupRefusals[attempt.group] = rejection
        }
    }

    private func noteCircuit(_ verdicts: [Verdict], of service: PushService) {
        let (now, name) = (environment.steady.now, service.platform.displayName)
        let location = service.origin.map { " at \($0)" } ?? ""
        switch circuits.note(verdicts, of: service, now: now) {
        case .opened(let time):
            environment.warn(.delivery, "\(name)\(location) does not respond; nothing is sent to it for \(time - now)")
        // Not a warning: the connector logs it once, and this repeats with each try.
        case .blocked(let block, let time):
            environment.note(.delivery, "\(name) rejects the hub's credential (\(block.reason)); nothing is sent to it for \(time - now)")
        case .closed: environment.note(.delivery, "\(name)\(location) responds again")
        case nil: break
        }
    }

    private func noteWrongEnvironment(_ verdicts: [Verdict], of platform: Platform) {
        switch gauges[platform]?.note(verdicts, now: environment.clock.now) {
        case .suspected(let words):
            let consequence = platform == .browser ? "" : "; no invalid handle is removed meanwhile"
            environment.warn(.delivery, "hub \"\(hub)\": \(platform.displayName): \(words)\(consequence)")
        case .over: environment.warn(.delivery, "hub \"\(hub)\": \(platform.displayName): most handles match the credential again")
        case nil: break
        }
    }

    /// Whether handles that the service reports as invalid are removed. A browser's subscription names its only push service, which knows
    /// whether the subscription has ended, whatever the key.
    func trustsInvalidHandles(on platform: Platform) -> Bool { platform == .browser || gauges[platform]?.isTrusted ?? true }

    /// The notices for a notification with these devices, each once.
    func notices(of completed: [CompletedTarget]) -> [Notice] {
        let suspicions = gauges.compactMapValues(\.suspicion)
        guard !suspicions.isEmpty else { return [] }
        return suspicions.sorted { $0.key < $1.key }.compactMap { platform, suspicion in
            completed.contains { $0.result.isWrongEnvironment && $0.result.device.platform == platform }
                ? .wrongEnvironment(platform, advice: suspicion.words) : nil
        }
    }

    /// Current issues by platform; empty if there are none.
    func issues() -> [DeliveryIssue] {
        let circuits = Dictionary(grouping: circuits.open(environment.steady.now), by: \.service.platform)
        return platforms.sorted().flatMap { platform in
            (circuits[platform] ?? []).map { open in
                DeliveryIssue(platform, .openCircuit(origin: open.service.origin, nextTry: open.nextTry, block: open.block))
            }
                + (gauges[platform]?.suspicion.map { [DeliveryIssue(platform, .wrongEnvironment($0.words, since: $0.since))] } ?? [])
        }
    }
}

extension Verdict {
    fileprivate var isCredentialRefusal: Bool {
        if case .rejected(let rejection) = self { rejection.outcome == .invalidCredentials && rejection.scope == .hub } else { false }
    }

    fileprivate var isHeaderRefusal: Bool {
        if case .rejected(let rejection) = self { rejection.scope == .headers } else { false }
    }
}
