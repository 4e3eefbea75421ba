import PushModel

/// Delivers requests: finds targets, renders batches, calls connectors, and retries.
struct SendPipeline: Sendable {
    let environment: HubEnvironment
    /// The hub's name.
    let hub: String
    private let connectors: [Platform: any Connector]
    private let retries: RetryPolicy
    /// For the current connectors and credentials.
    let circuits: CircuitBreakers
    /// For the current connectors and credentials.
    let gauges: [Platform: WrongEnvironmentDetector]

    init(
        environment: HubEnvironment, connectors: [any Connector], hub: String = "hub", retries: RetryPolicy = RetryPolicy()
    ) {
        self.hub = hub
        self.environment = environment
        self.retries = retries
        let platforms = Set(connectors.flatMap(\.platforms))
        circuits = CircuitBreakers(platforms)
        gauges = Dictionary(uniqueKeysWithValues: platforms.map { ($0, WrongEnvironmentDetector()) })
        self.connectors = connectors.reduce(into: [:]) { table, connector in
            for platform in connector.platforms { table[platform] = connector }
        }
    }

    /// Platforms with a connector.
    var platforms: Dictionary<Platform, any Connector>.Keys { connectors.keys }

    /// - Parameter planned: rows of the plan's registrations, ascending; nil without a plan.
    func targets(of request: NotificationRequest, in table: RegistrationTable, among planned: [UInt32]? = nil) -> Targets {
        switch request.audience {
        case .device(let handle): Targets(direct: [handle])
        case .devices(let handles): Targets(direct: handles)
        case .expression(let expression): table.targets(of: expression, for: request.content, among: planned)
        case .everyone: table.targets(of: nil, for: request.content, among: planned)
        }
    }

    /// Looks up the current recipients of members of a group, in their order. Called from the task of the run.
    typealias Looking = @Sendable ([UInt32], RecipientGroup) async -> [Recipient]

    /// How a run dispatches its batches.
    struct DispatchPolicy: Sendable {
        /// Maximum number of batches in flight to one push service; services do not wait for each other. Nil for sequential delivery, in a
        /// reproducible order.
        var batchesInFlight: Int?
        /// Whether the run ends when all remaining work has to wait, and is resumed later. Otherwise it waits.
        var isDeferrable = false
        /// The retry state of the previous run.
        var patience: RetryState?
        /// Acquires a slot for a batch; each slot is released with `givesBack`. These closures are called from the task of the run, so
        /// they have to reach shared state themselves.
        var takes: @Sendable (PushService) async -> Bool = { _ in true }
        var givesBack: @Sendable (PushService) async -> Void = { _ in }
        /// Waits for a slot while other batches of the run are in flight. Returns whether it was granted.
        var awaits: @Sendable (PushService) async -> Bool = { _ in false }
    }

    /// Delivers to every target in batches of at most `batch` handles, and reports final results.
    ///
    /// Every group gets its first attempt before any device is retried. In a test send, the first verdict is final, because the sender
    /// waits.
    func deliver(
        _ targets: Targets, of request: NotificationRequest, id: String, batch: Int, manner: DispatchPolicy = DispatchPolicy(),
        lookingUp: @escaping Looking, report: ([SettledTarget]) async -> Void
    ) async -> DeliveryEnd {
        let now = environment.steady.now
        let (began, start) = (manner.patience?.began ?? environment.clock.now, manner.patience?.start ?? now)
        var run = DeliveryRun(
            id: id, request: request, groups: RenderedGroup.groups(of: targets, for: request), duplicateHandles: DuplicateHandles(targets),
            began: began,
            start: start, batchSize: batch, batchesInFlight: manner.batchesInFlight)
        let look = Self.looking(at: targets, lookingUp)
        for (place, group) in run.groups.enumerated() {
            environment.note(
                .render,
                "\(id): \(group.platform.displayName), \(group.body.count) bytes for \(group.members.count)")
            if let flaw = group.flaw { environment.note(.render, "\(id): left out: \(flaw)") }
            if let refusal = refusal(of: group) {
                await inSteps(of: batch, group.members, group.recipients, &run, look, report) { member, recipient in
                    SettledTarget(
                        order: Int(member),
                        result: DeliveryResult(
                            device: recipient.outcome(
                                refusal.outcome, reason: refusal.reason, refusal.explanation, size: group.body.count)))
                }
            } else {
                run.begin(place, firstAttempt(of: PushService(group.platform), manner, in: run))
            }
        }
        let isThrough =
            manner.batchesInFlight == nil ? await inOrder(&run, look, report) : await deliverConcurrently(&run, manner, look, report)
        let left = run.drain()
        if !isThrough {
            var open: [SettledTarget] = []
            var rest: [(group: RecipientGroup, members: [UInt32])] = []
            for (_, attempt) in left {
                switch attempt.members {
                case .first, .sorted: rest.append((run.groups[attempt.group].recipients, run.members(of: attempt)))
                case .again(let waiting): open += waiting.map { SettledTarget(order: Int($0.member), result: $0.result) }
                }
            }
            return .cutOff(open: open, rest: rest, duplicates: run.duplicateHandles.rest)
        }
        if !left.isEmpty {
            var patience = RetryState(began: began, start: start, services: [:])
            for (moment, attempt) in left {
                let wait = patience.services[attempt.service] ?? RetryState.Wait(number: attempt.number, moment: moment)
                patience.services[attempt.service] = RetryState.Wait(
                    number: min(wait.number, attempt.number), moment: max(wait.moment, moment))
            }
            return .deferred(patience)
        }
        // Duplicates whose originals have results from an earlier process or are unknown.
        await inSteps(of: batch, run.duplicateHandles.rest, nil, &run, look, report, Self.skipped)
        return .done
    }

    /// Direct handles need no lookup.
    private static func looking(at targets: Targets, _ lookUp: @escaping Looking) -> Looking {
        guard let direct = targets.direct else { return lookUp }
        return { members, _ in members.map { Recipient(handle: direct[Int($0)]) } }
    }

    /// Sends one batch after the other. Returns `false` if it was cancelled.
    private func inOrder(_ run: inout DeliveryRun, _ look: Looking, _ report: Reporting) async -> Bool {
        while let next = run.lanes.isEmpty ? nil : run.next(0) {
            do {
                try Task.checkCancellation()
                if next.moment > environment.steady.now { try await environment.steady.sleep(until: next.moment) }
            } catch {
                return false
            }
            let move = move(next, in: run)
            switch move {
            case .hold(let moment): run.postpone(0, until: moment)
            case .settle(let rejection): await tell(await settleUntried(0, rejection, in: &run, look), of: &run, look, report)
            case .giveUp: await tell(await giveUp(0, in: &run, look), of: &run, look, report)
            case .send, .probe:
                guard let attempt = run.take(0, most: move.most, now: environment.steady.now) else { continue }
                let batch = await batch(attempt, of: &run, look)
                let verdicts = batch.recipients.isEmpty ? [] : await connectors[next.service.platform]?.deliver(run.work(batch)) ?? []
                run.finished(0)
                await tell(settle(batch, verdicts, in: &run), of: &run, look, report)
            }
        }
        return true
    }

    private enum Event: Sendable {
        case answered(lane: Int, DeliveryRun.Batch, [Verdict])
        /// Some browsers were assigned to lanes. Other events are handled before the next ones are assigned.
        case sorted
        /// A lane was granted a slot, or the run has ended.
        case room(lane: Int, isGranted: Bool)
        case woke
    }

    /// Sends to all push services concurrently, some batches at a time. Returns `false` if it was cancelled; true with work left if all of
    /// it has to wait.
    private func deliverConcurrently(
        _ run: inout DeliveryRun, _ manner: DispatchPolicy, _ look: Looking, _ report: Reporting
    ) async -> Bool {
        await withTaskGroup(of: Event.self) { group in
            var alarm: Timestamp?
            while true {
                let now = environment.steady.now
                if !Task.isCancelled {
                    if let (place, members) = run.nextUnsorted() {
                        await sort(members, of: place, in: &run, manner, look)
                        group.addTask { .sorted }
                    }
                    for lane in run.lanesInOrder {
                        await begin(lane, of: &run, manner, look, report) { batch, work, connector in
                            group.addTask {
                                let verdicts = work.handles.isEmpty ? [] : await connector.deliver(work)
                                return .answered(lane: lane, batch, verdicts)
                            }
                        }
                    }
                }
                for service in run.unusedSlots() { await manner.givesBack(service) }
                if !run.isUnderWay, Task.isCancelled || run.isSorted && (run.nextDueTime == nil || manner.isDeferrable) { break }
                for (lane, service) in run.lanesToQueue() {
                    group.addTask { .room(lane: lane, isGranted: await manner.awaits(service)) }
                }
                // Due times that passed meanwhile are checked again.
                if let next = run.alarm(after: now), alarm.map({ next < $0 }) ?? true, !Task.isCancelled {
                    alarm = next
                    group.addTask { [clock = environment.steady] in
                        try? await clock.sleep(until: next)
                        return .woke
                    }
                }
                switch await group.next() {
                case .answered(let lane, let batch, let verdicts):
                    await manner.givesBack(batch.attempt.service)
                    run.finished(lane)
                    await tell(settle(batch, verdicts, in: &run), of: &run, look, report)
                case .room(let lane, let isGranted): run.hasRoom(lane, isGranted)
                case .woke: alarm = nil
                case .sorted, nil: break
                }
            }
            group.cancelAll()
            for await news in group {
                if case .room(let lane, true) = news { run.hasRoom(lane, true) }
            }
            for service in run.unusedSlots() { await manner.givesBack(service) }
            return run.nextDueTime == nil && run.isSorted || !Task.isCancelled
        }
    }

    /// Sends the lane's next batches while they are due and have slots. Results that need no push service are reported on the way.
    private func begin(
        _ lane: Int, of run: inout DeliveryRun, _ manner: DispatchPolicy, _ look: Looking, _ report: Reporting,
        send: (DeliveryRun.Batch, DeliveryBatch, any Connector) -> Void
    ) async {
        while !run.isWaitingForSlot(lane), let next = run.next(lane), next.moment <= environment.steady.now,
            let connector = connectors[next.service.platform]
        {
            let move = move(next, in: run)
            switch move {
            case .hold(let moment): run.hold(lane, until: moment)
            case .settle(let rejection): await tell(await settleUntried(lane, rejection, in: &run, look), of: &run, look, report)
            case .giveUp: await tell(await giveUp(lane, in: &run, look), of: &run, look, report)
            case .send, .probe:
                // The batches in flight already probe the service.
                if move == .probe, !run.isIdle(lane) { return }
                if !run.useSlot(lane), !(await manner.takes(next.service)) { return run.noSlotFree(lane) }
                guard let attempt = run.take(lane, most: move.most, now: environment.steady.now) else { return }
                let batch = await batch(attempt, of: &run, look)
                send(batch, run.work(batch), connector)
            }
        }
    }

    // MARK: - Moves

    private enum Move: Equatable {
        case send
        /// One device, as a probe.
        case probe
        case hold(until: Timestamp)
        /// Report this result without sending.
        case settle(Rejection)
        /// Their retry window is over: their last results are final.
        case giveUp

        var most: Int { self == .probe ? 1 : .max }
    }

    /// What to do with the next batch of a lane, which is due.
    private func move(_ next: DeliveryRun.Next, in run: DeliveryRun) -> Move {
        let now = environment.steady.now
        if let refusal = run.refusals[next.service] ?? run.groupRefusals[next.group] { return .settle(refusal.notTried) }
        if let expiration = run.options.expiration, run.began < expiration, expiration <= environment.clock.now {
            return next.isFirst ? .settle(.expired) : .giveUp
        }
        if run.isTest { return .send }
        let breaker = circuits[next.service]
        switch breaker?.admission(now) {
        case .wait(let moment):
            // Devices without an attempt wait for the first one as long as others for their last.
            let last = next.retryDeadline ?? (breaker?.stoppedRespondingAt).map { max($0, run.start) + retries.window }
            return last.map { $0 < moment } == true ? .giveUp : .hold(until: moment)
        case .probe: return next.retryDeadline.map { $0 < now } == true ? .giveUp : .probe
        case .all, nil: return .send
        }
    }

    /// Returns final results for the next batch of a lane, whose retry window is over.
    private func giveUp(_ lane: Int, in run: inout DeliveryRun, _ look: Looking) async -> [SettledTarget] {
        let told = run.nextResults(lane)
        guard !told.isEmpty else { return await settleUntried(lane, .overdue, in: &run, look) }
        _ = run.take(lane, most: told.count, now: environment.steady.now, isSent: false)
        run.finished(lane)
        return told
    }

    /// Returns final results for the next batch of a lane without sending it.
    private func settleUntried(
        _ lane: Int, _ rejection: Rejection, in run: inout DeliveryRun, _ look: Looking
    ) async -> [SettledTarget] {
        guard let attempt = run.take(lane, now: environment.steady.now, isSent: false) else { return [] }
        run.finished(lane)
        let batch = await batch(attempt, of: &run, look)
        return batch.left
            + zip(batch.members, batch.recipients).map { member, recipient in
                SettledTarget(
                    order: Int(member), result: DeliveryResult(target: recipient, verdict: .rejected(rejection), size: batch.size))
            }
    }

    /// The deadline of a device whose first attempt is at `first`.
    func retryDeadline(from first: Timestamp, in run: DeliveryRun) -> Timestamp {
        if run.isTest { return first }
        guard let expiration = run.options.expiration else { return first + retries.window }
        return min(first + retries.window, environment.steady.now + (expiration - environment.clock.now))
    }

    /// Returns the final results of a batch, and queues the other devices for a retry.
    private func settle(
        _ batch: DeliveryRun.Batch, _ verdicts: [Verdict], in run: inout DeliveryRun
    ) -> [SettledTarget] {
        let (id, attempt, group, now) = (run.id, batch.attempt, run.groups[batch.attempt.group], environment.steady.now)
        // If all recipients were removed, nothing was sent.
        if !batch.recipients.isEmpty { note(verdicts, of: attempt, in: &run) }
        let retryDeadline = attempt.retryDeadline ?? retryDeadline(from: now, in: run)
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
            let trouble = RetryPolicy.FailureKind(verdict)
            if Task.isCancelled, trouble != nil {
                // Not a final verdict: the request was cancelled.
                again.append((member, result))
            } else if let trouble,
                let wait = retries.pause(after: attempt.number, trouble, asked: verdict.retryAfter, seed: run.seed),
                now + wait <= retryDeadline
            {
                again.append((member, result))
                pause = max(pause, wait)
            } else {
                settled.append(SettledTarget(order: Int(member), result: result))
            }
        }
        if !again.isEmpty {
            environment.note(.delivery, "\(id): retrying \(again.count) devices in \(pause)")
            run.insert(
                DeliveryRun.Attempt(
                    group: attempt.group, service: attempt.service, number: attempt.number + 1, retryDeadline: retryDeadline,
                    members: .again(again)),
                at: now + pause)
        }
        return settled
    }

    /// Reports results that need no push service, in steps.
    ///
    /// - Parameter group: nil for members of several groups.
    private func inSteps(
        of step: Int, _ members: [UInt32], _ group: RecipientGroup?, _ run: inout DeliveryRun, _ look: Looking, _ report: Reporting,
        _ settled: (UInt32, Recipient) -> SettledTarget
    ) async {
        for first in stride(from: 0, to: members.count, by: step) {
            let part = Array(members[first..<min(first + step, members.count)])
            let recipients = await look(part, group ?? RecipientGroup())
            await tell(zip(part, recipients).map(settled), of: &run, look, report)
        }
    }

    /// The reason code if the hub has no credentials for the platform.
    static let noConnector = "NoConnector"

    /// Why a group cannot be passed to a connector; nil if it can.
    func refusal(of group: RenderedGroup) -> (outcome: OutcomeName, reason: String, explanation: String)? {
        let name = group.platform.displayName
        if connectors[group.platform] == nil {
            return (.invalidCredentials, Self.noConnector, "the hub has no credentials for \(name)")
        }
        if let limit = group.exceededLimit {
            let size = "\(group.body.count) bytes; \(name) accepts at most \(limit)"
            return (
                .invalidNotificationSize, "PayloadTooLarge",
                group.isTemplate ? "the template came to \(size): shorten the properties" : "the payload has \(size): shorten it"
            )
        }
        return nil
    }
}
