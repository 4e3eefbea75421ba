import PushModel

/// Delivers requests to their targets: renders batches, calls connectors, and retries.
struct SendPipeline: Sendable {
    private let environment: HubEnvironment
    private let connectors: [Platform: any Connector]
    private let retries: RetryPolicy
    let health: ServiceHealth
    private var times: AttemptTimes { AttemptTimes(environment: environment, retries: retries) }

    init(
        environment: HubEnvironment, connectors: [any Connector], hub: String = "hub", retries: RetryPolicy = RetryPolicy()
    ) {
        self.environment = environment
        self.retries = retries
        health = ServiceHealth(environment, hub: hub, Set(connectors.flatMap(\.platforms)))
        self.connectors = connectors.reduce(into: [:]) { table, connector in
            for platform in connector.platforms { table[platform] = connector }
        }
    }

    /// Platforms with a connector.
    var platforms: Dictionary<Platform, any Connector>.Keys { connectors.keys }

    typealias Reporting = ([CompletedTarget]) async -> Void

    /// The rules by which a run dispatches its batches.
    struct DispatchPolicy: Sendable {
        /// Maximum number of batches in flight to one push service; services do not wait for each other. Nil for sequential delivery, in a
        /// reproducible order.
        var batchesInFlight: Int?
        /// Whether the run ends when all remaining work has to wait, and is resumed later. Otherwise it waits.
        var isDeferrable = false
        /// The retry state of the previous run.
        var retryState: RetryState?
        /// Acquires a slot for a batch; each slot is released with `releaseSlot`. These closures are called from the task of the run, so
        /// they have to reach shared state themselves.
        var acquireSlot: @Sendable (PushService) async -> Bool = { _ in true }
        var releaseSlot: @Sendable (PushService) async -> Void = { _ in }
        /// Waits for a slot while other batches of the run are in flight. Returns whether it was granted.
        var waitForSlot: @Sendable (PushService) async -> Bool = { _ in false }
    }

    /// Delivers to every target in batches of at most `batch` handles, and reports final results.
    ///
    /// Every group gets its first attempt before any device is retried. In a test send, the first verdict is final, because the sender
    /// waits.
    func deliver(
        _ targets: Targets, of request: NotificationRequest, id: String, batch: Int, policy: DispatchPolicy = DispatchPolicy(),
        lookingUp: @escaping RecipientLookup.Looking, report: Reporting
    ) async -> DeliveryEnd {
        let now = environment.steady.now
        let (began, start) = (policy.retryState?.began ?? environment.clock.now, policy.retryState?.start ?? now)
        var run = DeliveryRun(
            id: id, request: request, groups: RenderedGroup.groups(of: targets, for: request), duplicateHandles: DuplicateHandles(targets),
            began: began,
            start: start, batchSize: batch, batchesInFlight: policy.batchesInFlight)
        let lookup = RecipientLookup(targets, lookingUp)
        for (index, group) in run.groups.enumerated() {
            environment.note(
                .render,
                "\(id): \(group.platform.displayName), \(group.body.count) bytes for \(group.members.count)")
            if let flaw = group.flaw { environment.note(.render, "\(id): left out: \(flaw)") }
            if let refusal = refusal(of: group) {
                await inSteps(of: batch, group.members, group.recipients, &run, lookup, report) { member, recipient in
                    CompletedTarget(
                        order: Int(member),
                        result: DeliveryResult(
                            device: recipient.outcome(
                                refusal.outcome, reason: refusal.reason, .text(refusal.explanation), size: group.body.count)))
                }
            } else {
                run.begin(index, times.first(of: PushService(group.platform), policy, in: run))
            }
        }
        let isThrough =
            policy.batchesInFlight == nil ? await inOrder(&run, lookup, report) : await deliverConcurrently(&run, policy, lookup, report)
        let left = run.drain()
        if !isThrough {
            var pending: [CompletedTarget] = []
            var untried: [(group: RecipientGroup, members: [UInt32])] = []
            for (_, attempt) in left {
                switch attempt.members {
                case .first, .sorted: untried.append((run.groups[attempt.group].recipients, run.members(of: attempt)))
                case .again(let waiting): pending += waiting.map { CompletedTarget(order: Int($0.member), result: $0.result) }
                }
            }
            return .cancelled(pending: pending, untried: untried, duplicates: run.duplicateHandles.rest)
        }
        if !left.isEmpty {
            var retryState = RetryState(began: began, start: start, services: [:])
            for (time, attempt) in left {
                let wait = retryState.services[attempt.service] ?? RetryState.Wait(number: attempt.number, time: time)
                retryState.services[attempt.service] = RetryState.Wait(
                    number: min(wait.number, attempt.number), time: max(wait.time, time))
            }
            return .deferred(retryState)
        }
        // Duplicates whose originals have results from an earlier process or are unknown.
        await inSteps(of: batch, run.duplicateHandles.rest, nil, &run, lookup, report, CompletedTarget.skipped)
        return .done
    }

    /// Sends one batch after the other. Returns `false` if it was cancelled.
    private func inOrder(_ run: inout DeliveryRun, _ lookup: RecipientLookup, _ report: Reporting) async -> Bool {
        while let next = run.lanes.isEmpty ? nil : run.next(0) {
            do {
                try Task.checkCancellation()
                try ChargedWork.check()
                if next.time > environment.steady.now { try await environment.steady.sleep(until: next.time) }
            } catch {
                return false
            }
            let move = move(next, in: run)
            switch move {
            case .postpone(let time): run.postpone(0, until: time)
            case .complete(let rejection):
                await reportResults(await completeUntried(0, rejection, in: &run, lookup), of: &run, lookup, report)
            case .giveUp: await reportResults(await giveUp(0, in: &run, lookup), of: &run, lookup, report)
            case .send, .probe:
                guard let attempt = run.take(0, most: move.most, now: environment.steady.now) else { continue }
                let batch = await lookup.batch(attempt, of: &run)
                let verdicts = batch.recipients.isEmpty ? [] : await connectors[next.service.platform]?.deliver(run.work(batch)) ?? []
                run.finished(0)
                await reportResults(complete(batch, verdicts, in: &run), of: &run, lookup, report)
            }
        }
        return true
    }

    private enum Event: Sendable {
        case answered(lane: Int, DeliveryRun.Batch, [Verdict])
        /// Some browsers were assigned to lanes. Other events are handled before the next ones are assigned.
        case sorted
        /// A lane was granted a slot, or the run has ended.
        case slot(lane: Int, isGranted: Bool)
        case woke
    }

    /// Sends to all push services concurrently, some batches at a time. Returns `false` if it was cancelled; true with work left if all of
    /// it has to wait.
    private func deliverConcurrently(
        _ run: inout DeliveryRun, _ policy: DispatchPolicy, _ lookup: RecipientLookup, _ report: Reporting
    ) async -> Bool {
        if run.isSingleBatch, !Task.isCancelled, await deliverSingleBatch(&run, policy, lookup, report) { return true }
        return await withTaskGroup(of: Event.self) { group in
            var alarm: Timestamp?
            while true {
                let now = environment.steady.now
                if !Task.isCancelled {
                    if let (index, members) = run.nextUnsorted() {
                        await BrowserSorter(times: times, policy: policy, look: lookup.look).sort(members, of: index, in: &run)
                        group.addTask { .sorted }
                    }
                    for lane in run.lanesInOrder {
                        await begin(lane, of: &run, policy, lookup, report) { batch, work, connector in
                            group.addTask {
                                let verdicts = work.handles.isEmpty ? [] : await connector.deliver(work)
                                return .answered(lane: lane, batch, verdicts)
                            }
                        }
                    }
                }
                for service in run.unusedSlots() { await policy.releaseSlot(service) }
                if !run.isInFlight, Task.isCancelled || run.isSorted && (run.nextDueTime == nil || policy.isDeferrable) { break }
                for (lane, service) in run.lanesToQueue() {
                    group.addTask { .slot(lane: lane, isGranted: await policy.waitForSlot(service)) }
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
                    await policy.releaseSlot(batch.attempt.service)
                    run.finished(lane)
                    await reportResults(complete(batch, verdicts, in: &run), of: &run, lookup, report)
                case .slot(let lane, let isGranted): run.setSlot(lane, isGranted)
                case .woke: alarm = nil
                case .sorted, nil: break
                }
            }
            group.cancelAll()
            for await event in group {
                if case .slot(let lane, true) = event { run.setSlot(lane, true) }
            }
            for service in run.unusedSlots() { await policy.releaseSlot(service) }
            return run.nextDueTime == nil && run.isSorted || !Task.isCancelled
        }
    }

    /// Sends the only batch of a run, if it is due and a slot is free. It needs no task of its own, and most notifications have no other.
    ///
    /// - Returns: whether no work is left.
    private func deliverSingleBatch(
        _ run: inout DeliveryRun, _ policy: DispatchPolicy, _ lookup: RecipientLookup, _ report: Reporting
    ) async -> Bool {
        var sending: (batch: DeliveryRun.Batch, work: DeliveryBatch, connector: any Connector)?
        await begin(0, of: &run, policy, lookup, report) { sending = ($0, $1, $2) }
        guard let (batch, work, connector) = sending else { return run.isThrough }
        let verdicts = work.handles.isEmpty ? [] : await connector.deliver(work)
        await policy.releaseSlot(batch.attempt.service)
        run.finished(0)
        await reportResults(complete(batch, verdicts, in: &run), of: &run, lookup, report)
        return run.isThrough
    }

    /// Sends the lane's next batches while they are due and have slots. Results that need no push service are reported on the way.
    private func begin(
        _ lane: Int, of run: inout DeliveryRun, _ policy: DispatchPolicy, _ lookup: RecipientLookup, _ report: Reporting,
        send: (DeliveryRun.Batch, DeliveryBatch, any Connector) -> Void
    ) async {
        while !run.isWaitingForSlot(lane), let next = run.next(lane), next.time <= environment.steady.now,
            let connector = connectors[next.service.platform]
        {
            let move = move(next, in: run)
            switch move {
            case .postpone(let time): run.deferLane(lane, until: time)
            case .complete(let rejection):
                await reportResults(await completeUntried(lane, rejection, in: &run, lookup), of: &run, lookup, report)
            case .giveUp: await reportResults(await giveUp(lane, in: &run, lookup), of: &run, lookup, report)
            case .send, .probe:
                // The batches in flight already probe the service.
                if move == .probe, !run.isIdle(lane) { return }
                if !run.useSlot(lane), !(await policy.acquireSlot(next.service)) { return run.noSlotFree(lane) }
                guard let attempt = run.take(lane, most: move.most, now: environment.steady.now) else { return }
                let batch = await lookup.batch(attempt, of: &run)
                send(batch, run.work(batch), connector)
            }
        }
    }

    // MARK: - Moves

    private enum Move: Equatable {
        case send
        /// One device, as a probe.
        case probe
        case postpone(until: Timestamp)
        /// Report this result without sending.
        case complete(Rejection)
        /// Their retry window is over: their last results are final.
        case giveUp

        var most: Int { self == .probe ? 1 : .max }
    }

    /// What to do with the next batch of a lane, which is due.
    private func move(_ next: DeliveryRun.Next, in run: DeliveryRun) -> Move {
        let now = environment.steady.now
        if let refusal = run.refusals[next.service] ?? run.groupRefusals[next.group] { return .complete(refusal.notTried) }
        if let expiration = run.options.expiration, run.began < expiration, expiration <= environment.clock.now {
            return next.isFirst ? .complete(.expired) : .giveUp
        }
        if run.isTest { return .send }
        let breaker = health[next.service]
        switch breaker?.admission(now) {
        case .wait(let time):
            // Devices without an attempt wait for the first one as long as others for their last.
            let last = next.retryDeadline ?? (breaker?.stoppedRespondingAt).map { max($0, run.start) + retries.window }
            return last.map { $0 < time } == true ? .giveUp : .postpone(until: time)
        case .probe: return next.retryDeadline.map { $0 < now } == true ? .giveUp : .probe
        case .all, nil: return .send
        }
    }

    /// Returns final results for the next batch of a lane, whose retry window is over.
    private func giveUp(_ lane: Int, in run: inout DeliveryRun, _ lookup: RecipientLookup) async -> [CompletedTarget] {
        let results = run.nextResults(lane)
        guard !results.isEmpty else { return await completeUntried(lane, .overdue, in: &run, lookup) }
        _ = run.take(lane, most: results.count, now: environment.steady.now, isSent: false)
        run.finished(lane)
        return results
    }

    /// Returns final results for the next batch of a lane without sending it.
    private func completeUntried(
        _ lane: Int, _ rejection: Rejection, in run: inout DeliveryRun, _ lookup: RecipientLookup
    ) async -> [CompletedTarget] {
        guard let attempt = run.take(lane, now: environment.steady.now, isSent: false) else { return [] }
        run.finished(lane)
        let batch = await lookup.batch(attempt, of: &run)
        return batch.left
            + zip(batch.members, batch.recipients).map { member, recipient in
                CompletedTarget(
                    order: Int(member), result: DeliveryResult(target: recipient, verdict: .rejected(rejection), size: batch.size))
            }
    }

    /// Returns the final results of a batch, and queues the other devices for a retry.
    private func complete(
        _ batch: DeliveryRun.Batch, _ verdicts: [Verdict], in run: inout DeliveryRun
    ) -> [CompletedTarget] {
        let (id, attempt, group, now) = (run.id, batch.attempt, run.groups[batch.attempt.group], environment.steady.now)
        // If all recipients were removed, nothing was sent.
        if !batch.recipients.isEmpty { health.note(verdicts, of: attempt, in: &run) }
        let retryDeadline = attempt.retryDeadline ?? times.retryDeadline(from: now, in: run)
        var again: [(member: UInt32, result: DeliveryResult)] = []
        var pause: Duration = .zero
        var completed = batch.left
        for (member, target) in zip(batch.members, batch.recipients).dropFirst(verdicts.count) {
            completed.append(
                CompletedTarget(
                    order: Int(member),
                    result: DeliveryResult(
                        device: target.outcome(.abandoned, reason: "", .text("the connector gave no answer"), size: 0))))
        }
        for ((member, target), verdict) in zip(zip(batch.members, batch.recipients), verdicts) {
            environment.note(.delivery, "\(id): \(target.handle.abbreviated) \(verdict.summary)")
            let result = DeliveryResult(target: target, verdict: verdict, size: group.body.count)
            let issue = RetryPolicy.FailureKind(verdict)
            if Task.isCancelled, issue != nil {
                // Not a final verdict: the request was cancelled.
                again.append((member, result))
            } else if let issue,
                let wait = retries.pause(after: attempt.number, issue, retryAfter: verdict.retryAfter, seed: run.seed),
                now + wait <= retryDeadline
            {
                again.append((member, result))
                pause = max(pause, wait)
            } else {
                completed.append(CompletedTarget(order: Int(member), result: result))
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
        return completed
    }

    /// Reports results that need no push service, in steps.
    ///
    /// - Parameter group: nil for members of several groups.
    private func inSteps(
        of step: Int, _ members: [UInt32], _ group: RecipientGroup?, _ run: inout DeliveryRun, _ lookup: RecipientLookup,
        _ report: Reporting,
        _ completed: (UInt32, Recipient) -> CompletedTarget
    ) async {
        for first in stride(from: 0, to: members.count, by: step) {
            let part = Array(members[first..<min(first + step, members.count)])
            let recipients = await lookup.look(part, group ?? RecipientGroup())
            await reportResults(zip(part, recipients).map(completed), of: &run, lookup, report)
        }
    }

    /// Reports final results together with the duplicates of their targets.
    private func reportResults(
        _ completed: [CompletedTarget], of run: inout DeliveryRun, _ lookup: RecipientLookup, _ report: Reporting
    ) async {
        let results = await lookup.withDuplicates(completed, of: &run)
        if !results.isEmpty { await report(results) }
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
                group.isTemplate ? "the rendered template has \(size): shorten the properties" : "the payload has \(size): shorten it"
            )
        }
        return nil
    }
}

extension Rejection {
    /// For devices that were not tried in this process. Others keep their last results.
    fileprivate static let overdue = Rejection(
        status: 0, reason: "Overdue", explanation: "the push service was unavailable until this device's retry window was over",
        outcome: .pnsUnavailable)

    static let expired = Rejection(
        status: 0, reason: "Expired", explanation: "the notification expired before it was sent to this device", outcome: .abandoned)

    /// This rejection for a device that was not tried.
    fileprivate var notTried: Rejection {
        var rejection = self
        rejection.status = 0
        rejection.explanation += "; reported for other devices, so this one was not tried"
        return rejection
    }
}
