// What the answers of push services say about the hub's credentials and the services themselves.
extension SendPipeline {
    /// Notes what the verdicts of a batch say about the service, the hub's credential and the headers of the group.
    func note(_ verdicts: [Verdict], of attempt: DeliveryRun.Attempt, in run: inout DeliveryRun) {
        noteCircuit(verdicts, of: attempt.service)
        noteMixUp(verdicts, of: attempt.service.platform)
        guard verdicts.count >= CircuitBreaker.threshold, case .rejected(let rejection)? = verdicts.last, attempt.service.isOne
        else { return }
        if verdicts.allSatisfy(\.isCredentialRefusal) {
            run.refusals[attempt.service] = rejection
        } else if verdicts.allSatisfy(\.isHeaderRefusal) {
            run.groupRefusals[attempt.group] = rejection
        }
    }

    func noteCircuit(_ verdicts: [Verdict], of service: PushService) {
        let (now, name) = (environment.steady.now, service.platform.displayName)
        let place = service.origin.map { " at \($0)" } ?? ""
        switch circuits.note(verdicts, of: service, now: now) {
        case .opened(let moment): environment.warn(.delivery, "\(name) answers nobody\(place): nothing is sent there for \(moment - now)")
        // The connector's own log has it once; this comes again with each try.
        case .blocked(let block, let moment):
            environment.note(.delivery, "\(name) refuses the hub's credential (\(block.reason)): nothing is sent there for \(moment - now)")
        case .closed: environment.note(.delivery, "\(name) answers again\(place)")
        case nil: break
        }
    }

    func noteMixUp(_ verdicts: [Verdict], of platform: Platform) {
        switch gauges[platform]?.note(verdicts, now: environment.clock.now) {
        case .suspected(let words):
            let consequence = platform == .browser ? "" : "; no dead handle is removed meanwhile"
            environment.warn(.delivery, "the hub \(hub): \(platform.displayName): \(words)\(consequence)")
        case .over: environment.warn(.delivery, "the hub \(hub): \(platform.displayName): most handles are those of the credential again")
        case nil: break
        }
    }

    /// Whether handles that the service calls dead leave the hub. A browser's subscription has the address of its only service, which
    /// knows whether it has ended, whatever the key.
    func believesDeaths(on platform: Platform) -> Bool { platform == .browser || gauges[platform]?.isTrusted ?? true }

    /// What is to be said of a notification of which these are devices: each notice once.
    func notices(of settled: [SettledTarget]) -> [Notice] {
        let suspicions = gauges.compactMapValues(\.suspicion)
        guard !suspicions.isEmpty else { return [] }
        return suspicions.sorted { $0.key < $1.key }.compactMap { platform, suspicion in
            settled.contains { $0.result.isMixedUp && $0.result.device.platform == platform }
                ? .wrongEnvironment(platform, advice: suspicion.words) : nil
        }
    }

    func troubles() -> [DeliveryTrouble] {
        let circuits = Dictionary(grouping: circuits.open(environment.steady.now), by: \.service.platform)
        return platforms.sorted().flatMap { platform in
            (circuits[platform] ?? []).map { open in
                DeliveryTrouble(platform, .openCircuit(origin: open.service.origin, nextTry: open.nextTry, block: open.block))
            }
                + (gauges[platform]?.suspicion.map { [DeliveryTrouble(platform, .mixUp($0.words, since: $0.since))] } ?? [])
        }
    }
}

extension Rejection {
    /// Of devices that this process has not asked for: those that it has keep what they were told.
    static let overdue = Rejection(
        status: 0, reason: "Overdue", explanation: "the push service was in trouble until it was too late for this device",
        outcome: .pnsUnavailable)
}

extension Verdict {
    var isCredentialRefusal: Bool {
        if case .rejected(let rejection) = self { rejection.outcome == .invalidCredentials && rejection.scope == .hub } else { false }
    }

    var isHeaderRefusal: Bool {
        if case .rejected(let rejection) = self { rejection.scope == .headers } else { false }
    }
}

extension Rejection {
    /// The same for a device that was not asked for.
    var notAsked: Rejection {
        var rejection = self
        rejection.status = 0
        rejection.explanation += "; this was said for the devices before, and not asked again for this one"
        return rejection
    }

    static let expired = Rejection(
        status: 0, reason: "Expired", explanation: "the notification expired before this device's turn", outcome: .abandoned)
}
