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
        case .device(let handle): Targets(direct: [handle])
        case .devices(let handles): Targets(direct: handles)
        case .expression(let expression): table.targets(of: expression, for: request.content)
        case .everyone: table.targets(of: nil, for: request.content)
        }
    }

    /// Asks who stands at the places of a group now, in their order; from wherever the run is at work.
    typealias Looking = @Sendable ([UInt32], RecipientGroup) async -> [Recipient]

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
    ///
    /// Every group gets its first attempt before any is tried again.
    /// Whoever sends a test waits for the verdicts: the first one is the last.
    func deliver(
        _ targets: Targets, of request: NotificationRequest, id: String, step: Int, manner: Manner = Manner(),
        lookingUp: @escaping Looking, report: ([SettledTarget]) async -> Void
    ) async -> DeliveryEnd {
        let now = environment.clock.now
        let start = manner.patience?.start ?? now
        var run = DeliveryRun(
            id: id, options: request.options, groups: RenderedGroup.groups(of: targets, for: request),
            lastMoment: request.isTest ? start : min(start + retries.longest, request.options.expiration ?? .distantFuture),
            isSideBySide: manner.isSideBySide)
        let look = Self.looking(at: targets, lookingUp)
        for (place, group) in run.groups.enumerated() {
            environment.note(
                .render,
                "\(id): \(group.platform.displayName), \(group.body.count) bytes for \(group.members.count)")
            if let flaw = group.flaw { environment.note(.render, "\(id): left out: \(flaw)") }
            if let refusal = refusal(of: group) {
                await inSteps(of: step, group.members, group.recipients, look, report) { member, recipient in
                    SettledTarget(
                        order: Int(member),
                        result: DeliveryResult(
                            device: recipient.outcome(
                                refusal.outcome, reason: refusal.reason, refusal.explanation, size: group.body.count)))
                }
            } else {
                let wait = manner.patience?.platforms[group.platform]
                run.begin(place, number: wait?.number ?? 1, at: wait?.moment ?? now, step: step)
            }
        }
        let isThrough = manner.isSideBySide ? await sideBySide(&run, manner, look, report) : await inOrder(&run, look, report)
        let left = run.drain()
        if !isThrough {
            var open: [SettledTarget] = []
            var rest: [(group: RecipientGroup, members: [UInt32])] = []
            for (_, attempt) in left {
                switch attempt.members {
                case .first: rest.append((run.groups[attempt.group].recipients, run.members(of: attempt)))
                case .again(let waiting): open += waiting.map { SettledTarget(order: Int($0.member), result: $0.result) }
                }
            }
            return .cutOff(open: open, rest: rest)
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
        await inSteps(of: step, targets.duplicates, nil, look, report) { member, recipient in
            SettledTarget(order: SettledTarget.order(ofDuplicate: member), result: DeliveryResult(device: recipient.skippedAsDuplicate))
        }
        return .done
    }

    /// Handles that are sent to without a registration stand where they stand.
    private static func looking(at targets: Targets, _ lookUp: @escaping Looking) -> Looking {
        guard let direct = targets.direct else { return lookUp }
        return { members, _ in members.map { Recipient(handle: direct[Int($0)]) } }
    }

    /// One batch after the other. False when it was cancelled.
    private func inOrder(_ run: inout DeliveryRun, _ look: Looking, _ report: ([SettledTarget]) async -> Void) async -> Bool {
        while let (platform, due) = run.lanes.isEmpty ? nil : run.next(0) {
            do {
                try Task.checkCancellation()
                if due > environment.clock.now { try await environment.clock.sleep(until: due) }
            } catch {
                return false
            }
            guard let attempt = run.take(0) else { break }
            let batch = await batch(attempt, of: run, look)
            let verdicts = batch.recipients.isEmpty ? [] : await connectors[platform]?.deliver(run.work(batch)) ?? []
            run.finished(0)
            let settled = settle(batch, verdicts, in: &run)
            if !settled.isEmpty { await report(settled) }
        }
        return true
    }

    private func batch(_ attempt: DeliveryRun.Attempt, of run: DeliveryRun, _ look: Looking) async -> DeliveryRun.Batch {
        run.batch(attempt, of: await look(run.members(of: attempt), run.groups[attempt.group].recipients))
    }

    private enum News: Sendable {
        case answered(lane: Int, DeliveryRun.Batch, [Verdict])
        case woke
    }

    /// A batch of each platform at a time. False when it was cancelled; true with something left when that has to wait.
    private func sideBySide(
        _ run: inout DeliveryRun, _ manner: Manner, _ look: Looking, _ report: ([SettledTarget]) async -> Void
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
                        let batch = await batch(attempt, of: run, look)
                        let work = run.work(batch)
                        group.addTask {
                            let verdicts = work.handles.isEmpty ? [] : await connector.deliver(work)
                            return .answered(lane: lane, batch, verdicts)
                        }
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
                case .answered(let lane, let batch, let verdicts):
                    await manner.givesBack(run.groups[batch.attempt.group].platform)
                    run.finished(lane)
                    let settled = settle(batch, verdicts, in: &run)
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
        _ batch: DeliveryRun.Batch, _ verdicts: [Verdict], in run: inout DeliveryRun
    ) -> [SettledTarget] {
        let (id, attempt, group) = (run.id, batch.attempt, run.groups[batch.attempt.group])
        var again: [(member: UInt32, result: DeliveryResult)] = []
        var pause: Duration = .zero
        var settled = batch.left
        for (member, target) in zip(batch.members, batch.recipients).dropFirst(verdicts.count) {
            settled.append(
                SettledTarget(
                    order: Int(member),
                    result: DeliveryResult(
                        device: target.outcome(.abandoned, reason: "", "the connector gave no answer", size: 0))))
        }
        for ((member, target), verdict) in zip(zip(batch.members, batch.recipients), verdicts) {
            environment.note(.delivery, "\(id): \(target.handle.abbreviated) \(verdict.summary)")
            let result = DeliveryResult(target: target, verdict: verdict, size: group.body.count)
            if Task.isCancelled, verdict.isOpen {
                // Not the service's last word: the request was cut off.
                again.append((member, result))
            } else if case .transient(_, let retryAfter) = verdict,
                let wait = retries.pause(after: attempt.number, asked: retryAfter),
                environment.clock.now + wait <= run.lastMoment
            {
                again.append((member, result))
                pause = max(pause, wait)
            } else {
                settled.append(SettledTarget(order: Int(member), result: result))
            }
        }
        if !again.isEmpty {
            environment.note(.delivery, "\(id): \(again.count) devices again in \(pause)")
            run.insert(
                DeliveryRun.Attempt(group: attempt.group, number: attempt.number + 1, members: .again(again)),
                at: environment.clock.now + pause)
        }
        return settled
    }

    /// Reports what needs no push service, a step at a time.
    ///
    /// - Parameter group: nil where the members are of many.
    private func inSteps(
        of step: Int, _ members: [UInt32], _ group: RecipientGroup?, _ look: Looking, _ report: ([SettledTarget]) async -> Void,
        _ settled: (UInt32, Recipient) -> SettledTarget
    ) async {
        for first in stride(from: 0, to: members.count, by: step) {
            let part = Array(members[first..<min(first + step, members.count)])
            let recipients = await look(part, group ?? RecipientGroup())
            await report(zip(part, recipients).map(settled))
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
