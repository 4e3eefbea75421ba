/// From a request to verdicts: targets, rendered batches, connectors, retries.
struct SendPipeline: Sendable {
    let environment: HubEnvironment
    /// Its name.
    let hub: String
    private let connectors: [Platform: any Connector]
    private let retries: RetryPolicy
    /// As long as the connectors and their credentials stay the same.
    let circuits: Circuits
    /// The same.
    let gauges: [Platform: MixUpGauge]

    init(
        environment: HubEnvironment, connectors: [any Connector], hub: String = "hub", retries: RetryPolicy = RetryPolicy()
    ) {
        self.hub = hub
        self.environment = environment
        self.retries = retries
        let platforms = Set(connectors.flatMap(\.platforms))
        circuits = Circuits(platforms)
        gauges = Dictionary(uniqueKeysWithValues: platforms.map { ($0, MixUpGauge()) })
        self.connectors = connectors.reduce(into: [:]) { table, connector in
            for platform in connector.platforms { table[platform] = connector }
        }
    }

    /// Those that are delivered to.
    var platforms: Dictionary<Platform, any Connector>.Keys { connectors.keys }

    /// - Parameter planned: where those of its plan stand, ascending; nil for a request without one.
    func targets(of request: NotificationRequest, in table: RegistrationTable, among planned: [UInt32]? = nil) -> Targets {
        switch request.audience {
        case .device(let handle): Targets(direct: [handle])
        case .devices(let handles): Targets(direct: handles)
        case .expression(let expression): table.targets(of: expression, for: request.content, among: planned)
        case .everyone: table.targets(of: nil, for: request.content, among: planned)
        }
    }

    /// Asks who stands at the places of a group now, in their order; from wherever the run is at work.
    typealias Looking = @Sendable ([UInt32], RecipientGroup) async -> [Recipient]

    /// How a run goes about its work.
    struct Manner: Sendable {
        /// Of a push service at a time, and services do not wait for each other. Nil: one batch follows the other in an order that can be
        /// repeated.
        var batchesUnderWay: Int?
        /// Where nothing can be done now, the run ends and is to be gone on with. Else it waits.
        var isPutOff = false
        /// What the run before waited for.
        var patience: Patience?
        /// Whether a batch for a push service may begin; each that does is given back. They are asked from wherever the run is at work, so
        /// that what they share with others has to be theirs to reach.
        var takes: @Sendable (PushService) async -> Bool = { _ in true }
        var givesBack: @Sendable (PushService) async -> Void = { _ in }
        /// Waits in line for a batch that may not begin, while others of the run are under way; true where it may now.
        var awaits: @Sendable (PushService) async -> Bool = { _ in false }
    }

    /// Delivers to every target in batches of at most `batch` handles, and reports verdicts as they are final.
    ///
    /// Every group gets its first attempt before any is tried again.
    /// Whoever sends a test waits for the verdicts: the first one is the last.
    func deliver(
        _ targets: Targets, of request: NotificationRequest, id: String, batch: Int, manner: Manner = Manner(),
        lookingUp: @escaping Looking, report: ([SettledTarget]) async -> Void
    ) async -> DeliveryEnd {
        let now = environment.steady.now
        let (began, start) = (manner.patience?.began ?? environment.clock.now, manner.patience?.start ?? now)
        var run = DeliveryRun(
            id: id, request: request, groups: RenderedGroup.groups(of: targets, for: request), twins: Twins(targets), began: began,
            start: start, batchSize: batch, batchesUnderWay: manner.batchesUnderWay)
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
            manner.batchesUnderWay == nil ? await inOrder(&run, look, report) : await sideBySide(&run, manner, look, report)
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
            return .cutOff(open: open, rest: rest, duplicates: run.twins.rest)
        }
        if !left.isEmpty {
            var patience = Patience(began: began, start: start, services: [:])
            for (moment, attempt) in left {
                let wait = patience.services[attempt.service] ?? Patience.Wait(number: attempt.number, moment: moment)
                patience.services[attempt.service] = Patience.Wait(
                    number: min(wait.number, attempt.number), moment: max(wait.moment, moment))
            }
            return .putOff(patience)
        }
        // Of targets that were told by a process before, or that nobody knows.
        await inSteps(of: batch, run.twins.rest, nil, &run, look, report, Self.skipped)
        return .done
    }

    /// Handles that are sent to without a registration stand where they stand.
    private static func looking(at targets: Targets, _ lookUp: @escaping Looking) -> Looking {
        guard let direct = targets.direct else { return lookUp }
        return { members, _ in members.map { Recipient(handle: direct[Int($0)]) } }
    }

    /// One batch after the other. False when it was cancelled.
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

    private enum News: Sendable {
        case answered(lane: Int, DeliveryRun.Batch, [Verdict])
        /// Some browsers have their lanes: others have their turn before more get theirs.
        case sorted
        /// A lane's turn for room has come, or the run has ended.
        case room(lane: Int, isGranted: Bool)
        case woke
    }

    /// Some batches of each push service at a time. False when it was cancelled; true with something left when that has to wait.
    private func sideBySide(
        _ run: inout DeliveryRun, _ manner: Manner, _ look: Looking, _ report: Reporting
    ) async -> Bool {
        await withTaskGroup(of: News.self) { group in
            var alarm: Timestamp?
            while true {
                let now = environment.steady.now
                if !Task.isCancelled {
                    if let (place, members) = run.nextUnsorted() {
                        await sort(members, of: place, in: &run, manner, look)
                        group.addTask { .sorted }
                    }
                    for lane in run.lanesInTurn {
                        await begin(lane, of: &run, manner, look, report) { batch, work, connector in
                            group.addTask {
                                let verdicts = work.handles.isEmpty ? [] : await connector.deliver(work)
                                return .answered(lane: lane, batch, verdicts)
                            }
                        }
                    }
                }
                for service in run.unusedRooms() { await manner.givesBack(service) }
                if !run.isUnderWay, Task.isCancelled || run.isSorted && (run.nextMoment == nil || manner.isPutOff) { break }
                for (lane, service) in run.lanesInWait() {
                    group.addTask { .room(lane: lane, isGranted: await manner.awaits(service)) }
                }
                // A moment that has come meanwhile is looked at once more.
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
            for service in run.unusedRooms() { await manner.givesBack(service) }
            return run.nextMoment == nil && run.isSorted || !Task.isCancelled
        }
    }

    /// Sends the lane's next batches, as long as their moment has come and there is room; what needs no push service is settled on the way.
    private func begin(
        _ lane: Int, of run: inout DeliveryRun, _ manner: Manner, _ look: Looking, _ report: Reporting,
        send: (DeliveryRun.Batch, DeliveryBatch, any Connector) -> Void
    ) async {
        while !run.awaitsRoom(lane), let next = run.next(lane), next.moment <= environment.steady.now,
            let connector = connectors[next.service.platform]
        {
            let move = move(next, in: run)
            switch move {
            case .hold(let moment): run.hold(lane, until: moment)
            case .settle(let rejection): await tell(await settleUntried(lane, rejection, in: &run, look), of: &run, look, report)
            case .giveUp: await tell(await giveUp(lane, in: &run, look), of: &run, look, report)
            case .send, .probe:
                // What comes of those under way tells the same.
                if move == .probe, !run.isIdle(lane) { return }
                if !run.takesRoom(lane), !(await manner.takes(next.service)) { return run.lacksRoom(lane) }
                guard let attempt = run.take(lane, most: move.most, now: environment.steady.now) else { return }
                let batch = await batch(attempt, of: &run, look)
                send(batch, run.work(batch), connector)
            }
        }
    }

    // MARK: - Moves

    private enum Move: Equatable {
        case send
        /// One device, to see.
        case probe
        case hold(until: Timestamp)
        /// Without asking the service.
        case settle(Rejection)
        /// Their time is over: what they were told last stands.
        case giveUp

        var most: Int { self == .probe ? 1 : .max }
    }

    /// What is done with the next devices of a lane, whose moment has come.
    private func move(_ next: DeliveryRun.Next, in run: DeliveryRun) -> Move {
        let now = environment.steady.now
        if let refusal = run.refusals[next.service] ?? run.groupRefusals[next.group] { return .settle(refusal.notAsked) }
        if let expiration = run.options.expiration, run.began < expiration, expiration <= environment.clock.now {
            return next.isFirst ? .settle(.expired) : .giveUp
        }
        if run.isTest { return .send }
        let breaker = circuits[next.service]
        switch breaker?.admission(now) {
        case .wait(let moment):
            // Whoever had no attempt waits as long for the first one as others for their last.
            let last = next.lastMoment ?? (breaker?.openSince).map { max($0, run.start) + retries.window }
            return last.map { $0 < moment } == true ? .giveUp : .hold(until: moment)
        case .probe: return next.lastMoment.map { $0 < now } == true ? .giveUp : .probe
        case .all, nil: return .send
        }
    }

    /// Settles the next batch of a lane, whose time is over.
    private func giveUp(_ lane: Int, in run: inout DeliveryRun, _ look: Looking) async -> [SettledTarget] {
        let told = run.nextResults(lane)
        guard !told.isEmpty else { return await settleUntried(lane, .overdue, in: &run, look) }
        _ = run.take(lane, most: told.count, now: environment.steady.now, isSent: false)
        run.finished(lane)
        return told
    }

    /// Settles the next batch of a lane without asking anybody.
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

    /// Nothing of a device is tried later than that, if its first attempt is now.
    func lastMoment(from first: Timestamp, in run: DeliveryRun) -> Timestamp {
        if run.isTest { return first }
        guard let expiration = run.options.expiration else { return first + retries.window }
        return min(first + retries.window, environment.steady.now + (expiration - environment.clock.now))
    }

    /// What the verdicts of a batch settle; the others are tried again.
    private func settle(
        _ batch: DeliveryRun.Batch, _ verdicts: [Verdict], in run: inout DeliveryRun
    ) -> [SettledTarget] {
        let (id, attempt, group, now) = (run.id, batch.attempt, run.groups[batch.attempt.group], environment.steady.now)
        // Where everybody had left, nobody was asked.
        if !batch.recipients.isEmpty { note(verdicts, of: attempt, in: &run) }
        let lastMoment = attempt.lastMoment ?? lastMoment(from: now, in: run)
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
            let trouble = RetryPolicy.Trouble(verdict)
            if Task.isCancelled, trouble != nil {
                // Not the service's last word: the request was cut off.
                again.append((member, result))
            } else if let trouble,
                let wait = retries.pause(after: attempt.number, trouble, asked: verdict.retryAfter, seed: run.seed),
                now + wait <= lastMoment
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
                DeliveryRun.Attempt(
                    group: attempt.group, service: attempt.service, number: attempt.number + 1, lastMoment: lastMoment,
                    members: .again(again)),
                at: now + pause)
        }
        return settled
    }

    /// Reports what needs no push service, a step at a time.
    ///
    /// - Parameter group: nil where the members are of many.
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

    /// The reason, instead of a push service's own, where the hub has no credentials.
    static let noConnector = "NoConnector"

    /// Why a group cannot be handed to a connector at all.
    func refusal(of group: RenderedGroup) -> (outcome: OutcomeName, reason: String, explanation: String)? {
        let name = group.platform.displayName
        if connectors[group.platform] == nil {
            return (.invalidCredentials, Self.noConnector, "the hub has no credentials for \(name)")
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
