/// From a request to verdicts: targets, rendered batches, connectors, retries.
struct SendPipeline: Sendable {
    let environment: HubEnvironment
    private let connectors: [Platform: any Connector]
    private let retries = RetryPolicy()

    init(environment: HubEnvironment, connectors: [any Connector]) {
        self.environment = environment
        self.connectors = connectors.reduce(into: [:]) { table, connector in
            for platform in connector.platforms { table[platform] = connector }
        }
    }

    /// Those that are delivered to.
    var platforms: Dictionary<Platform, any Connector>.Keys { connectors.keys }

    func targets(of request: NotificationRequest, in table: RegistrationTable) -> Targets {
        switch request.audience {
        case .device(let handle):
            return Targets(direct: [handle])
        case .devices(let handles):
            return Targets(direct: handles)
        case .expression(let expression):
            return Targets(table.select(expression), for: request.content)
        case .everyone:
            return Targets(table.select(nil), for: request.content)
        }
    }

    /// How a run goes about its work.
    struct Manner: Sendable {
        /// Platforms do not wait for each other. Else one batch follows the other in an order that can be repeated.
        var isSideBySide = false
        /// Where nothing can be done now, the run ends and is to be gone on with. Else it waits.
        var isPutOff = false
        /// What the run before waited for.
        var patience: Patience?
        /// Whether a batch for a platform may begin; each that does is given back. They are asked from wherever the run is at work, so
        /// that what they share with others has to be theirs to reach.
        var takes: @Sendable (Platform) async -> Bool = { _ in true }
        var givesBack: @Sendable (Platform) async -> Void = { _ in }
    }

    /// Delivers to every target, and reports verdicts as they are final, at most `step` handles after the last report.
    /// Places count the targets, then the duplicates.
    ///
    /// Every group gets its first attempt before any is tried again.
    /// Whoever sends a test waits for the verdicts: the first one is the last.
    func deliver(
        _ targets: Targets, of request: NotificationRequest, id: String, step: Int, manner: Manner = Manner(),
        report: ([SettledTarget]) async -> Void
    ) async -> DeliveryEnd {
        let now = environment.clock.now
        let start = manner.patience?.start ?? now
        var run = DeliveryRun(
            id: id, options: request.options, groups: RenderedGroup.groups(of: targets, for: request),
            lastMoment: request.isTest ? start : min(start + retries.longest, request.options.expiration ?? .distantFuture),
            isSideBySide: manner.isSideBySide)
        for (place, group) in run.groups.enumerated() {
            environment.note(
                .render,
                "\(id): \(group.platform.displayName), \(group.body.count) bytes for \(group.targets.count)")
            if let flaw = group.flaw { environment.note(.render, "\(id): left out: \(flaw)") }
            if let refusal = refusal(of: group) {
                await inSteps(of: step, group.targets.indices, report) { member in
                    SettledTarget(
                        place: group.places[member],
                        result: DeliveryResult(
                            device: group.targets[member].outcome(
                                refusal.outcome, reason: refusal.reason, refusal.explanation, size: group.body.count)))
                }
            } else {
                let wait = manner.patience?.platforms[group.platform]
                run.begin(place, number: wait?.number ?? 1, at: wait?.moment ?? now, step: step)
            }
        }
        let isThrough = manner.isSideBySide ? await sideBySide(&run, manner, report) : await inOrder(&run, report)
        let left = run.drain()
        if !isThrough {
            return .cutOff(
                left.flatMap { _, attempt in
                    attempt.waiting.compactMap { member, result in
                        result.map { SettledTarget(place: run.groups[attempt.group].places[member], result: $0) }
                    }
                })
        }
        if !left.isEmpty {
            var patience = Patience(start: start, platforms: [:])
            for (moment, attempt) in left {
                let platform = run.groups[attempt.group].platform
                let wait = patience.platforms[platform] ?? Patience.Wait(number: attempt.number, moment: moment)
                patience.platforms[platform] = Patience.Wait(
                    number: min(wait.number, attempt.number), moment: max(wait.moment, moment))
            }
            return .putOff(patience)
        }
        await inSteps(of: step, targets.duplicates.indices, report) { member in
            SettledTarget(
                place: targets.list.count + member,
                result: DeliveryResult(
                    device: targets.duplicates[member].outcome(
                        .skipped, reason: "", "the same handle already got this notification", size: 0)))
        }
        return .done
    }

    /// One batch after the other. False when it was cancelled.
    private func inOrder(_ run: inout DeliveryRun, _ report: ([SettledTarget]) async -> Void) async -> Bool {
        while let (platform, due) = run.lanes.isEmpty ? nil : run.next(0) {
            do {
                try Task.checkCancellation()
                if due > environment.clock.now { try await environment.clock.sleep(until: due) }
            } catch {
                return false
            }
            guard let attempt = run.take(0) else { break }
            let verdicts = await connectors[platform]?.deliver(run.batch(attempt)) ?? []
            run.finished(0)
            let settled = settle(attempt, verdicts, in: &run)
            if !settled.isEmpty { await report(settled) }
        }
        return true
    }

    private enum News: Sendable {
        case answered(lane: Int, DeliveryRun.Attempt, [Verdict])
        case woke
    }

    /// A batch of each platform at a time. False when it was cancelled; true with something left when that has to wait.
    private func sideBySide(
        _ run: inout DeliveryRun, _ manner: Manner, _ report: ([SettledTarget]) async -> Void
    ) async -> Bool {
        await withTaskGroup(of: News.self) { group in
            var alarm: Timestamp?
            while true {
                let now = environment.clock.now
                if !Task.isCancelled {
                    for lane in run.lanes.indices {
                        guard let (platform, due) = run.next(lane), due <= now, let connector = connectors[platform],
                            await manner.takes(platform), let attempt = run.take(lane)
                        else { continue }
                        let batch = run.batch(attempt)
                        group.addTask { .answered(lane: lane, attempt, await connector.deliver(batch)) }
                    }
                }
                let next = run.nextMoment
                if !run.isUnderWay, next == nil || Task.isCancelled || manner.isPutOff { break }
                if let next, next > now, alarm.map({ next < $0 }) ?? true, !Task.isCancelled {
                    alarm = next
                    group.addTask { [clock = environment.clock] in
                        try? await clock.sleep(until: next)
                        return .woke
                    }
                }
                switch await group.next() {
                case .answered(let lane, let attempt, let verdicts):
                    await manner.givesBack(run.groups[attempt.group].platform)
                    run.finished(lane)
                    let settled = settle(attempt, verdicts, in: &run)
                    if !settled.isEmpty { await report(settled) }
                case .woke: alarm = nil
                case nil: break
                }
            }
            group.cancelAll()
            return run.nextMoment == nil || !Task.isCancelled
        }
    }

    /// What the verdicts of a batch settle; the others are tried again.
    private func settle(
        _ attempt: DeliveryRun.Attempt, _ verdicts: [Verdict], in run: inout DeliveryRun
    ) -> [SettledTarget] {
        let (id, group) = (run.id, run.groups[attempt.group])
        var again = DeliveryRun.Attempt(group: attempt.group, number: attempt.number + 1, waiting: [])
        var pause: Duration = .zero
        var settled: [SettledTarget] = []
        for (member, _) in attempt.waiting.dropFirst(verdicts.count) {
            settled.append(
                SettledTarget(
                    place: group.places[member],
                    result: DeliveryResult(
                        device: group.targets[member].outcome(
                            .abandoned, reason: "", "the connector gave no answer", size: 0))))
        }
        for ((member, _), verdict) in zip(attempt.waiting, verdicts) {
            let target = group.targets[member]
            environment.note(.delivery, "\(id): \(target.handle.abbreviated) \(verdict.summary)")
            let result = DeliveryResult(target: target, verdict: verdict, size: group.body.count)
            if Task.isCancelled, verdict.isOpen {
                // Not the service's last word: the request was cut off.
                again.waiting.append((member, result))
            } else if case .transient(_, let retryAfter) = verdict,
                let wait = retries.pause(after: attempt.number, asked: retryAfter),
                environment.clock.now + wait <= run.lastMoment
            {
                again.waiting.append((member, result))
                pause = max(pause, wait)
            } else {
                settled.append(SettledTarget(place: group.places[member], result: result))
            }
        }
        if !again.waiting.isEmpty {
            environment.note(.delivery, "\(id): \(again.waiting.count) devices again in \(pause)")
            run.insert(again, at: environment.clock.now + pause)
        }
        return settled
    }

    /// Reports what needs no push service, a step at a time.
    private func inSteps(
        of step: Int, _ members: Range<Int>, _ report: ([SettledTarget]) async -> Void, _ settled: (Int) -> SettledTarget
    ) async {
        for first in stride(from: members.lowerBound, to: members.upperBound, by: step) {
            await report((first..<min(first + step, members.upperBound)).map(settled))
        }
    }

    /// Why a group cannot be handed to a connector at all.
    func refusal(of group: RenderedGroup) -> (outcome: OutcomeName, reason: String, explanation: String)? {
        let name = group.platform.displayName
        if connectors[group.platform] == nil {
            return (.invalidCredentials, "NoConnector", "the hub has no credentials for \(name)")
        }
        if let limit = group.exceededLimit {
            let size = "\(group.body.count) bytes; \(name) takes at most \(limit)"
            return (
                .invalidNotificationSize, "PayloadTooLarge",
                group.isTemplate ? "the template came to \(size): shorten the properties" : "the payload has \(size): shorten it"
            )
        }
        return nil
    }
}

extension Verdict {
    /// Another attempt may end otherwise.
    fileprivate var isOpen: Bool {
        switch self {
        case .transient, .unknown: true
        case .accepted, .rejected: false
        }
    }
}

/// A target with its verdict.
struct SettledTarget: Sendable {
    var place: Int
    var result: DeliveryResult
}
