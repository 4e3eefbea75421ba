// One notification: to whom it goes, and what is kept of that.
extension NotificationHub {
    /// Delivers a notification whose caller waits, and answers how it ended; the end is kept in the background where it cannot be
    /// kept at once.
    func deliverNow(_ kept: KeptNotification) async -> NotificationOutcome {
        var (delivery, delay) = await deliver(kept, nil, isInTurn: false)
        var outcome = delivery.outcome
        outcome.devices = delivery.devices
        if case .held(let id, let moment) = delay {
            if await keepProgress(&delivery) {
                live[id] = nil
                hold(id, kept.sequence, until: moment)
            } else {
                takePlace(kept.sequence) { [delivery] hub in
                    await hub.keepHeld(delivery)
                    return .held(id: id, until: moment)
                }
            }
            return outcome
        }
        guard outcome.state.isFinal else { return delivery.outcome }
        if await keepProgress(&delivery) {
            if settings.isSideBySide {
                endedInBackground(delivery.outcome, of: delivery.origin)
            } else if let end = ended(delivery.outcome, of: delivery.origin) {
                // Who rehearses something finds everything in its order.
                await environment.hooks.onOutcome(end)
            }
        } else {
            takePlace(kept.sequence) { [delivery] hub in
                await hub.keepEnd(delivery)
                return nil
            }
        }
        return outcome
    }

    /// Delivers a notification to whoever is registered now. What comes of it is final, and still to be kept, unless the hub stopped
    /// before, or it has to wait: then what for. Of one that is held the verdicts are still to be kept as well.
    func deliver(
        _ kept: KeptNotification, _ patience: Patience?, isInTurn: Bool
    ) async -> (delivery: Delivery, delay: Delay?) {
        let (request, id) = (kept.request, kept.outcome.id)
        let plan = await plannedAudience(of: request, id)
        sweep()
        let start = environment.clock.now
        var delivery = Delivery(kept, start: start, holdsDevices: !isInTurn)
        if plan.isLost, isStopping {
            live[id] = nil
            return (delivery, nil)
        }
        if plan.isLost, let binding = request.plan { delivery.outcome.note([.planLost(plan: binding.id)]) }
        if patience == nil, kept.outcome.state == .scheduled, let approved = request.approvedReach,
            let reach = await reach(of: request, beyond: approved.devices)
        {
            let notice = Notice.exceededApproval(reach: reach.count, approved)
            delivery.outcome.note([notice])
            environment.warn(.delivery, "\(id): \(notice.text)")
            delivery.outcome.state = .abandoned
            (delivery.outcome.startedAt, delivery.outcome.endedAt) = (start, start)
            live[id] = delivery.outcome
            return (delivery, nil)
        }
        if kept.outcome.state == .processing {
            await skipDone(&delivery)
            if isStopping {
                live[id] = nil
                return (delivery, nil)
            }
        }
        delivery.outcome.state = .processing
        delivery.outcome.startedAt = kept.outcome.startedAt ?? patience?.began ?? start
        delivery.outcome.notices.removeAll(where: \.isDeferral)
        live[id] = delivery.outcome
        // From here on the places of those who leave are nobody else's.
        let run = table.beginRun()
        defer { table.endRun(run) }
        // Who has joined since the plan was made is no target.
        let places = plan.audience.map { table.places(of: $0) } ?? (request.plan == nil ? nil : [])
        var targets = pipeline.targets(of: request, in: table, among: places)
        environment.note(.audience, "\(id): \(targets.summary)")
        targets.drop(delivery.done, in: table)
        if request.isTest { targets.sample(Self.testSize, with: environment.random) }
        delivery.brake = RemovalBrake(
            share: settings.maxRemovedShare, audience: delivery.outcome.total + targets.count + targets.duplicates.count,
            removed: delivery.outcome.removedCount)
        let holds = await askAbout(&targets, kept, since: start, &delivery)
        delivery.holds = holds
        // What was promised is so from now on, as far as it can be kept: the others may take long.
        if delivery.hasNewHolds, !holds.isEmpty { _ = await keepProgress(&delivery) }
        if stops.contains(kept.sequence) {
            abandon(
                targets.groups.map { (RecipientGroup($0), $0.members) } + holds.groups, targets.duplicates + holds.duplicates, of: targets,
                &delivery)
            delivery.outcome.state = .canceled
        } else if targets.isEmpty, holds.isEmpty, delivery.outcome.counts.isEmpty {
            delivery.outcome.state = plan.isLost ? .abandoned : .noTargetFound
            delivery.outcome.nearMisses = await nearMisses(request)
        } else {
            let end = await pipeline.deliver(
                targets, of: request, id: id, batch: min(settings.devicesPerBatch, settings.devicesPerStep),
                manner: manner(
                    patience ?? Patience(of: kept, environment), isInTurn: isInTurn && request.pace == nil, devices: targets.matched),
                lookingUp: { await self.recipients(at: $0, of: $1) }
            ) { settled in
                await note(settled, since: start, &delivery)
            }
            let moment = wakeMoment(of: holds, delivery.outcome, request)
            switch end {
            case .done:
                if let moment, !stops.contains(kept.sequence) {
                    delivery.outcome.note(holds.notices)
                    live[id] = delivery.outcome
                    return (delivery, .held(id: id, until: moment))
                }
                abandon(holds.groups, holds.duplicates, of: targets, &delivery)
            case .putOff(var patience):
                patience.heldUntil = moment.map { environment.steady.now + ($0 - environment.clock.now) }
                delivery.outcome.note(holds.notices)
                // Who had it is read again when it goes on; and nobody is to think that nothing was begun.
                if !delivery.unkept.isEmpty || !holds.isEmpty {
                    await keepStep(&delivery)
                } else if kept.outcome.state != .processing {
                    _ = await keepProgress(&delivery)
                }
                if isStopping { _ = await keepProgress(&delivery) }
                live[id] = nil
                return (delivery, .service(patience))
            case .cutOff(let open, let rest, let duplicates):
                if isStopping {
                    _ = await keepProgress(&delivery)
                    live[id] = nil
                    return (delivery, nil)
                }
                delivery.add(await takeFeedback(open, since: start, &delivery), at: environment.clock.now)
                abandon(rest + holds.groups, duplicates + holds.duplicates, of: targets, &delivery)
            }
            let isStopped = stops.contains(kept.sequence) && delivery.hasAbandoned
            delivery.outcome.state =
                isStopped
                ? .canceled : delivery.isAbandoned ? .abandoned : request.isTest ? .detailedStateAvailable : .completed
        }
        delivery.outcome.endedAt = environment.clock.now
        var outcome = delivery.outcome
        outcome.devices = delivery.devices
        live[id] = outcome
        return (delivery, nil)
    }

    /// Most verdicts of a notification under way that can be asked for before they are kept; more are kept soon.
    private static let mostRecent = 1_000

    /// These have their verdicts.
    func note(_ settled: [SettledTarget], since start: Timestamp, _ delivery: inout Delivery) async {
        let news = await takeFeedback(settled, since: start, &delivery)
        delivery.add(news, at: environment.clock.now)
        delivery.outcome.note(pipeline.notices(of: settled))
        live[delivery.outcome.id] = delivery.outcome
        recent[delivery.sequence] = delivery.unkept.count <= Self.mostRecent ? delivery.unkept : nil
        if delivery.unkept.count >= settings.devicesPerStep { await keepStep(&delivery) }
    }

    /// The work was cancelled: these get nothing, and the duplicates that were not told.
    private func abandon(
        _ rest: [(group: RecipientGroup, members: [UInt32])], _ duplicates: [UInt32], of targets: Targets, _ delivery: inout Delivery
    ) {
        let now = environment.clock.now
        for (group, members) in rest { delivery.abandon(members, recipients(members, group, of: targets), at: now) }
        delivery.skip(duplicates: duplicates, recipients(duplicates, RecipientGroup(), of: targets), at: now)
    }

    /// Who stands at members of targets, in their order.
    func recipients(_ members: [UInt32], _ group: RecipientGroup, of targets: Targets) -> [Recipient] {
        targets.direct.map { handles in members.map { Recipient(handle: handles[Int($0)]) } } ?? recipients(at: members, of: group)
    }

    private func recipients(at places: [UInt32], of group: RecipientGroup) -> [Recipient] {
        table.recipients(at: places, of: group)
    }

    /// Most devices of a notification that is put off: of a larger one it would be dear to find out again who had it, so it waits
    /// where it is.
    private static let devicesPutOff = 10_000

    private func manner(_ patience: Patience?, isInTurn: Bool, devices: Int) -> SendPipeline.Manner {
        guard settings.isSideBySide else { return SendPipeline.Manner(patience: patience) }
        guard isInTurn, devices <= Self.devicesPutOff else {
            return SendPipeline.Manner(batchesUnderWay: settings.batchesUnderWay, patience: patience)
        }
        return SendPipeline.Manner(batchesUnderWay: settings.batchesUnderWay, isPutOff: true, patience: patience) { service in
            await self.takeRoom(service)
        } givesBack: { service in
            await self.giveBackRoom(service)
        } awaits: { service in
            await self.awaitRoom(service)
        }
    }

    /// Until it is known who had the notification from the process before, nobody gets it: tried again until the hub stops.
    private func skipDone(_ delivery: inout Delivery) async {
        var pause = Self.firstPause
        while !isStopping {
            do throws(PushError) {
                return try await delivery.skipDone(in: store)
            } catch {
                environment.warn(.delivery, "\(delivery.outcome.id): who had it cannot be read: \(error.message)")
                // A row that is broken stays so. Better twice than never.
                guard error.isRetryable else { return }
                await rest(&pause)
            }
        }
    }

    // MARK: - Keeping

    static let firstPause: Duration = .seconds(1)

    /// Waits on, longer each time, up to a minute. The hub's stop ends it; that of a notification, whose end is still to be kept, does
    /// not.
    func rest(_ pause: inout Duration) async {
        let (clock, end) = (environment.steady, environment.steady.now + pause)
        pause = min(pause * 2, .seconds(60))
        guard Task.isCancelled, !isStopping else {
            try? await clock.sleep(until: end)
            return
        }
        rests += 1
        let (number, sleeper) = (rests, environment.start { try? await clock.sleep(until: end) })
        sleepers[number] = sleeper
        await sleeper.value
        sleepers[number] = nil
    }

    /// Whether the news is kept.
    private func keepProgress(_ delivery: inout Delivery) async -> Bool {
        do throws(PushError) {
            try await record(delivery.progress(in: table), of: delivery.origin)
            delivery.wasKept()
            recent[delivery.sequence] = nil
            return true
        } catch {
            environment.warn(.delivery, "\(delivery.outcome.id): progress is not on disk yet: \(error.message)")
            return false
        }
    }

    /// Nobody else gets the notification before the step is kept: a crash repeats one step, and what waits for the disk is no
    /// more than that.
    private func keepStep(_ delivery: inout Delivery) async {
        var pause = Self.firstPause
        while !isStopping, !(await keepProgress(&delivery)) { await rest(&pause) }
    }

    /// What is known of a notification that is held is kept, and nothing of it stays in memory but when it goes on; after the hub's stop
    /// the next process asks about its devices.
    func keepHeld(_ delivery: Delivery) async {
        var delivery = delivery
        await keepStep(&delivery)
        if isStopping, !delivery.isKept { _ = await keepProgress(&delivery) }
        live[delivery.outcome.id] = nil
    }

    /// Until the end is kept, a new process would deliver the notification once more: tried again and again, for the last time when
    /// the hub stops.
    func keepEnd(_ delivery: Delivery) async {
        var (delivery, pause) = (delivery, Self.firstPause)
        var isKept = false
        while !isKept {
            let isLast = isStopping
            isKept = await keepProgress(&delivery)
            if isKept || isLast { break }
            await rest(&pause)
        }
        endedInBackground(delivery.outcome, of: delivery.origin, isKept: isKept)
    }
}
