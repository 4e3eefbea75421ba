import PushModel

// Delivery of one notification, and storage of its results.
extension NotificationHub {
    /// Delivers a notification whose sender waits, and returns its outcome. If the end cannot be stored now, it is stored in the
    /// background.
    func deliverNow(_ kept: StoredNotification) async -> NotificationOutcome {
        var (delivery, delay) = await deliver(kept, nil, isInTurn: false)
        var outcome = delivery.outcome
        outcome.devices = delivery.devices
        if case .held(let id, let moment) = delay {
            if await storeProgress(&delivery) {
                live[id] = nil
                hold(id, kept.sequence, until: moment)
            } else {
                runSend(kept.sequence) { [delivery] hub in
                    await hub.storeDeferred(delivery)
                    return .held(id: id, until: moment)
                }
            }
            return outcome
        }
        guard outcome.state.isFinal else { return delivery.outcome }
        if await storeProgress(&delivery) {
            if settings.isConcurrent {
                endedInBackground(delivery.outcome, of: delivery.origin)
            } else if let end = ended(delivery.outcome, of: delivery.origin) {
                // In a rehearsal, events must happen in a fixed order.
                await environment.hooks.onOutcome(end)
            }
        } else {
            runSend(kept.sequence) { [delivery] hub in
                await hub.storeEnd(delivery)
                return nil
            }
        }
        return outcome
    }

    /// Delivers a notification to the devices that are registered now.
    ///
    /// Without a delay, the returned delivery is final and its end still has to be stored, unless the hub stopped first. With a delay, the
    /// notification has to wait. If hooks deferred devices, the results of the others still have to be stored.
    func deliver(
        _ kept: StoredNotification, _ patience: RetryState?, isInTurn: Bool
    ) async -> (delivery: DeliveryTally, delay: Delay?) {
        let (request, id) = (kept.request, kept.outcome.id)
        let plan = await plannedAudience(of: request, id)
        sweep()
        let start = environment.clock.now
        var delivery = DeliveryTally(kept, start: start, keepsDevices: !isInTurn)
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
            await dropDelivered(&delivery)
            if isStopping {
                live[id] = nil
                return (delivery, nil)
            }
        }
        delivery.outcome.state = .processing
        delivery.outcome.startedAt = kept.outcome.startedAt ?? patience?.began ?? start
        delivery.outcome.notices.removeAll(where: \.isDeferral)
        live[id] = delivery.outcome
        // From here on, rows of deleted registrations are not reused until the run ends.
        let run = table.beginRun()
        defer { table.endRun(run) }
        // Devices that registered after the plan was made are not targets.
        let places = plan.audience.map { table.places(of: $0) } ?? (request.plan == nil ? nil : [])
        var targets = pipeline.targets(of: request, in: table, among: places)
        environment.note(.audience, "\(id): \(targets.summary)")
        targets.drop(delivery.done, in: table)
        if request.isTest { targets.sample(NotificationRequest.testSize, with: environment.random) }
        delivery.brake = RemovalBrake(
            share: settings.maxRemovedShare, audience: delivery.outcome.total + targets.count + targets.duplicates.count,
            removed: delivery.outcome.removedCount)
        let holds = await consultHooks(&targets, kept, since: start, &delivery)
        delivery.holds = holds
        // Store deferrals before sending: the other devices may take long.
        if delivery.hasNewDeferrals, !holds.isEmpty { _ = await storeProgress(&delivery) }
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
                    patience ?? RetryState(of: kept, environment), isInTurn: isInTurn && request.pace == nil, devices: targets.matched),
                lookingUp: { await self.recipients(at: $0, of: $1) }
            ) { settled in
                await note(settled, since: start, &delivery)
            }
            let moment = resumeTime(of: holds, delivery.outcome, request)
            switch end {
            case .done:
                if let moment, !stops.contains(kept.sequence) {
                    delivery.outcome.note(holds.notices)
                    live[id] = delivery.outcome
                    return (delivery, .held(id: id, until: moment))
                }
                abandon(holds.groups, holds.duplicates, of: targets, &delivery)
            case .deferred(var patience):
                patience.heldUntil = moment.map { environment.steady.now + ($0 - environment.clock.now) }
                delivery.outcome.note(holds.notices)
                // Stored results are read again when the notification resumes. Without any, still store that it has started.
                if !delivery.unkept.isEmpty || !holds.isEmpty {
                    await checkpoint(&delivery)
                } else if kept.outcome.state != .processing {
                    _ = await storeProgress(&delivery)
                }
                if isStopping { _ = await storeProgress(&delivery) }
                live[id] = nil
                return (delivery, .service(patience))
            case .cutOff(let open, let rest, let duplicates):
                if isStopping {
                    _ = await storeProgress(&delivery)
                    live[id] = nil
                    return (delivery, nil)
                }
                delivery.add(await recordResults(open, since: start, &delivery), at: environment.clock.now)
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

    /// Maximum number of unstored results of one notification that can be queried; larger numbers are stored soon.
    private static let maximumRecent = 1_000

    /// Records results: removes devices with invalid handles, updates the outcome, and stores a step if it is full.
    func note(_ settled: [SettledTarget], since start: Timestamp, _ delivery: inout DeliveryTally) async {
        let news = await recordResults(settled, since: start, &delivery)
        delivery.add(news, at: environment.clock.now)
        delivery.outcome.note(pipeline.notices(of: settled))
        live[delivery.outcome.id] = delivery.outcome
        recent[delivery.sequence] = delivery.unkept.count <= Self.maximumRecent ? delivery.unkept : nil
        if delivery.unkept.count >= settings.devicesPerStep { await checkpoint(&delivery) }
    }

    /// Records devices of a cancelled delivery as abandoned, and their unreported duplicates as skipped.
    private func abandon(
        _ rest: [(group: RecipientGroup, members: [UInt32])], _ duplicates: [UInt32], of targets: Targets, _ delivery: inout DeliveryTally
    ) {
        let now = environment.clock.now
        for (group, members) in rest { delivery.abandon(members, recipients(members, group, of: targets), at: now) }
        delivery.skip(duplicates: duplicates, recipients(duplicates, RecipientGroup(), of: targets), at: now)
    }

    /// The recipients for members of `targets`, in the same order.
    func recipients(_ members: [UInt32], _ group: RecipientGroup, of targets: Targets) -> [Recipient] {
        targets.direct.map { handles in members.map { Recipient(handle: handles[Int($0)]) } } ?? recipients(at: members, of: group)
    }

    private func recipients(at places: [UInt32], of group: RecipientGroup) -> [Recipient] {
        table.recipients(at: places, of: group)
    }

    /// Maximum number of devices of a notification that is deferred. Reloading the results of a larger one is too expensive, so it waits
    /// in memory.
    private static let maximumDeferred = 10_000

    private func manner(_ patience: RetryState?, isInTurn: Bool, devices: Int) -> SendPipeline.DispatchPolicy {
        guard settings.isConcurrent else { return SendPipeline.DispatchPolicy(patience: patience) }
        guard isInTurn, devices <= Self.maximumDeferred else {
            return SendPipeline.DispatchPolicy(batchesInFlight: settings.batchesInFlight, patience: patience)
        }
        return SendPipeline.DispatchPolicy(batchesInFlight: settings.batchesInFlight, isDeferrable: true, patience: patience) { service in
            await self.acquireSlot(service)
        } givesBack: { service in
            await self.releaseSlot(service)
        } awaits: { service in
            await self.waitForSlot(service)
        }
    }

    /// Loads the devices that already have results from an earlier process. Retries until the hub stops, because without them devices
    /// would get the notification twice.
    private func dropDelivered(_ delivery: inout DeliveryTally) async {
        var pause = Self.firstPause
        while !isStopping {
            do throws(PushError) {
                return try await delivery.dropDelivered(in: store)
            } catch {
                environment.warn(.delivery, "\(delivery.outcome.id): cannot load the devices already delivered to: \(error.message)")
                // A corrupt row stays corrupt. Delivering twice is better than never.
                guard error.isRetryable else { return }
                await rest(&pause)
            }
        }
    }

    // MARK: - Storing

    static let firstPause: Duration = .seconds(1)

    /// Sleeps, and doubles the pause up to a minute. Stopping the hub ends the sleep. Cancelling the notification does not, because its
    /// end still has to be stored.
    func rest(_ pause: inout Duration) async {
        let (clock, end) = (environment.steady, environment.steady.now + pause)
        pause = min(pause * 2, .seconds(60))
        guard Task.isCancelled, !isStopping else {
            try? await clock.sleep(until: end)
            return
        }
        rests += 1
        let (number, sleeper) = (rests, environment.start { try? await clock.sleep(until: end) })
        backOffTasks[number] = sleeper
        await sleeper.value
        backOffTasks[number] = nil
    }

    /// Stores new results. Returns whether that worked.
    private func storeProgress(_ delivery: inout DeliveryTally) async -> Bool {
        do throws(PushError) {
            try await record(delivery.progress(in: table), of: delivery.origin)
            delivery.markStored()
            recent[delivery.sequence] = nil
            return true
        } catch {
            environment.warn(.delivery, "\(delivery.outcome.id): progress is not stored yet: \(error.message)")
            return false
        }
    }

    /// Stores a step before any further device gets the notification. So a crash repeats at most one step, and memory holds at most one
    /// unstored step.
    private func checkpoint(_ delivery: inout DeliveryTally) async {
        var pause = Self.firstPause
        while !isStopping, !(await storeProgress(&delivery)) { await rest(&pause) }
    }

    /// Stores the results of a notification with deferred devices, and drops it from memory except for its due time. If the hub stops
    /// first, the next process asks hooks about these devices again.
    func storeDeferred(_ delivery: DeliveryTally) async {
        var delivery = delivery
        await checkpoint(&delivery)
        if isStopping, !delivery.isKept { _ = await storeProgress(&delivery) }
        live[delivery.outcome.id] = nil
    }

    /// Stores the end of a notification, retrying until the hub stops. Without a stored end, the next process would deliver it again.
    func storeEnd(_ delivery: DeliveryTally) async {
        var (delivery, pause) = (delivery, Self.firstPause)
        var isKept = false
        while !isKept {
            let isLast = isStopping
            isKept = await storeProgress(&delivery)
            if isKept || isLast { break }
            await rest(&pause)
        }
        endedInBackground(delivery.outcome, of: delivery.origin, isKept: isKept)
    }
}
