import PushModel

/// The actor that has the slots at push services, as deliveries reach it from their tasks.
protocol SlotProvider: Actor {
    /// Acquires a slot. Returns `false` if none is free; otherwise the caller must release it.
    func acquireSlot(_ service: PushService) -> Bool
    func releaseSlot(_ service: PushService)
    /// Waits for a slot. Returns `false` if the task was cancelled; otherwise the caller must release the slot.
    func waitForSlot(_ service: PushService) async -> Bool
}

/// The delivery of one notification, in one run: from its targets to the results that are stored.
///
/// The owner calls ``begin()``, ``prepare(reusing:asking:)``, the pipeline, and ``finish(_:)``, and passes the results of the pipeline to
/// ``record(_:)``. Not thread-safe: it is part of the actor that owns the services.
struct DeliverySession {
    private let services: DeliveryServices
    private let kept: StoredNotification
    /// The retry state of the previous run; nil if the notification was not deferred.
    private let patience: RetryState?
    /// The devices of the notification's plan; nil without a plan.
    private let planned: PlannedAudience?
    /// Whether the plan can never be read again; then nothing is sent.
    private let isPlanLost: Bool
    private let start: Timestamp
    /// The results so far.
    private(set) var tally: DeliveryTally
    /// The devices that the notification is sent to.
    private(set) var targets = Targets()

    private var context: HubContext { services.context }
    private var directory: RegistrationDirectory { services.directory }
    private var active: ActiveNotifications { services.active }
    private var recorder: DeliveryRecorder { DeliveryRecorder(services: services) }
    private var request: NotificationRequest { kept.request }
    private var id: String { kept.outcome.id }

    /// - Parameter keepsDevices: whether all results stay in memory until the end, for a sender who waits for them.
    init(
        _ kept: StoredNotification, _ patience: RetryState?, _ plan: (audience: PlannedAudience?, isLost: Bool), keepsDevices: Bool,
        _ services: DeliveryServices
    ) {
        (self.services, self.kept, self.patience) = (services, kept, patience)
        (planned, isPlanLost) = plan
        services.directory.sweep()
        start = services.context.now
        tally = DeliveryTally(kept, start: start, keepsDevices: keepsDevices)
    }

    /// Maximum number of devices of a notification that is deferred. Reloading the results of a larger one is too expensive, so it waits
    /// in memory.
    private static let maximumDeferred = 10_000

    /// How the batches are dispatched.
    ///
    /// - Parameter isInTurn: whether the notification comes from the outbox, so that it may be deferred.
    func policy(isInTurn: Bool, _ slots: any SlotProvider) -> SendPipeline.DispatchPolicy {
        let (dispatch, patience) = (context.settings.dispatch, self.patience ?? RetryState(of: kept, context.environment))
        guard dispatch.isConcurrent else { return SendPipeline.DispatchPolicy(patience: patience) }
        guard isInTurn, request.pace == nil, targets.matched <= Self.maximumDeferred else {
            return SendPipeline.DispatchPolicy(batchesInFlight: dispatch.batchesInFlight, patience: patience)
        }
        return SendPipeline.DispatchPolicy(batchesInFlight: dispatch.batchesInFlight, isDeferrable: true, patience: patience) { service in
            await slots.acquireSlot(service)
        } givesBack: { service in
            await slots.releaseSlot(service)
        } awaits: { service in
            await slots.waitForSlot(service)
        }
    }

    // MARK: - Start

    /// Marks the notification as in progress, unless it may not be sent or the hub stops. Returns whether to go on.
    mutating func begin() async -> Bool {
        if isPlanLost, context.isStopping {
            active[id] = nil
            return false
        }
        if isPlanLost, let binding = request.plan { tally.outcome.note([.planLost(plan: binding.id)]) }
        if patience == nil, kept.outcome.state == .scheduled, let approved = request.approvedReach,
            let reach = await ReachCounter(services: services).reach(of: request, beyond: approved.devices)
        {
            let notice = Notice.exceededApproval(reach: reach.count, approved)
            tally.outcome.note([notice])
            context.environment.warn(.delivery, "\(id): \(notice.text)")
            tally.outcome.state = .abandoned
            (tally.outcome.times.startedAt, tally.outcome.times.endedAt) = (start, start)
            active[id] = tally.outcome
            return false
        }
        if kept.outcome.state == .processing {
            await dropDelivered()
            if context.isStopping {
                active[id] = nil
                return false
            }
        }
        tally.outcome.state = .processing
        tally.outcome.times.startedAt = kept.outcome.startedAt ?? patience?.began ?? start
        tally.outcome.notices.removeAll(where: \.isDeferral)
        active[id] = tally.outcome
        return true
    }

    /// Loads the devices that already have results from an earlier process. Retries until the hub stops, because without them devices
    /// would get the notification twice.
    private mutating func dropDelivered() async {
        var pause = HubContext.firstPause
        while !context.isStopping {
            do throws(PushError) {
                return try await tally.dropDelivered(in: context.store)
            } catch {
                context.environment.warn(.delivery, "\(id): cannot load the devices already delivered to: \(error.message)")
                // A corrupt row stays corrupt. Delivering twice is better than never.
                guard error.isRetryable else { return }
                await context.backOff(&pause)
            }
        }
    }

    // MARK: - Targets

    /// Finds the targets and asks the hooks about them. Returns whether any are left to send to; otherwise the notification has ended.
    ///
    /// From here on, rows of deleted registrations must not be reused until the run ends.
    /// - Parameter resolved: the targets that were found when the notification was accepted.
    mutating func prepare(reusing resolved: ResolvedTargets?, asking host: any HookedRegistrations) async -> Bool {
        // Devices that registered after the plan was made are not targets.
        let places = planned.map { PlannedAudienceFinder(table: directory.table).places(of: $0) } ?? (request.plan == nil ? nil : [])
        targets = services.targets(of: request, among: places, reusing: resolved)
        context.environment.note(.audience, "\(id): \(targets.summary)")
        targets.drop(tally.done, in: directory.table)
        if request.isTest { targets.sample(NotificationRequest.testSize, with: context.environment.random) }
        tally.brake = RemovalBrake(
            share: context.settings.feedback.maxRemovedShare,
            audience: tally.outcome.total + targets.count + targets.duplicates.count, removed: tally.outcome.removedCount)
        tally.holds = await consultHooks(host)
        // Store deferrals before sending: the other devices may take long.
        if tally.hasNewDeferrals, !tally.holds.isEmpty { _ = await recorder.storeProgress(&tally) }
        if active.isCancelled(kept.sequence) {
            abandon(
                targets.groups.map { (RecipientGroup($0), $0.members) } + tally.holds.groups, targets.duplicates + tally.holds.duplicates)
            tally.outcome.state = .canceled
        } else if targets.isEmpty, tally.holds.isEmpty, tally.outcome.counts.isEmpty {
            tally.outcome.state = isPlanLost ? .abandoned : .noTargetFound
            tally.outcome.nearMisses = await NearMissFinder(directory: directory).sentences(for: request)
        } else {
            return true
        }
        end()
        return false
    }

    /// Asks the `beforeDeliver` hooks about the targets, platform by platform, and records the devices that get nothing.
    ///
    /// Hooks are skipped for expired and cancelled sends, and for devices that are deferred already.
    /// - Returns: the deferred devices, which are removed from `targets`.
    private mutating func consultHooks(_ host: any HookedRegistrations) async -> DeferredDevices {
        guard !targets.isEmpty, !active.isCancelled(kept.sequence), !hasExpired else { return DeferredDevices() }
        let directory = services.directory
        let waiting = kept.holds.waiting(after: context.now, outOf: &targets) { directory.table.mark(at: $0) }
        guard context.environment.hooks.isWanted(.beforeDeliver), !targets.isEmpty else { return waiting }
        var rulings = DeliveryRulings()
        for (platform, members) in targets.byPlatform {
            let group = DeliveryGroup(
                members, on: platform, isDirect: targets.direct != nil, of: kept, hub: context.name, clock: context.environment.clock,
                registrations: host)
            var failure: PushError?
            do throws(PushError) {
                try await context.environment.hooks.beforeDeliver(group)
            } catch {
                failure = error
            }
            // A cancelled hook gave no complete answer.
            if active.isCancelled(kept.sequence) || context.isStopping && Task.isCancelled { return waiting }
            rulings.add(group, failure, isTest: request.isTest, now: context.now)
        }
        let parts = rulings.take(from: &targets)
        let batch = context.settings.dispatch.devicesPerBatch
        for part in parts {
            if let explanation = part.explanation {
                context.environment.note(.delivery, "\(id): not sent to \(part.members.count) devices: \(explanation)")
            }
            for first in stride(from: 0, to: part.members.count, by: batch) {
                let members = Array(part.members[first..<min(first + batch, part.members.count)])
                await record(zip(members, recipients(members, RecipientGroup())).map(part.settled))
            }
        }
        var holds = waiting
        holds.add(rulings.holds)
        if targets.direct == nil { holds.note { directory.table.mark(at: $0) } }
        return holds
    }

    private var hasExpired: Bool {
        guard let expiration = request.options.expiration, let began = tally.outcome.startedAt else { return false }
        return began < expiration && expiration <= context.now
    }

    /// The recipients for members of the targets, in the same order.
    private func recipients(_ members: [UInt32], _ group: RecipientGroup) -> [Recipient] {
        targets.direct.map { handles in members.map { Recipient(handle: handles[Int($0)]) } }
            ?? directory.table.recipients(at: members, of: group)
    }

    // MARK: - Results

    /// Records results: removes devices with invalid handles, updates the outcome, and stores a step if it is full.
    mutating func record(_ settled: [SettledTarget]) async {
        let results = await results(of: settled)
        tally.add(results, at: context.now)
        tally.outcome.note(services.pipeline.notices(of: settled))
        active[id] = tally.outcome
        active.setUnstored(tally.unkept, of: kept.sequence)
        if tally.unkept.count >= context.settings.dispatch.devicesPerStep { await recorder.checkpoint(&tally) }
    }

    /// Removes the registrations of handles that push services report as invalid, and returns the results of all devices. A registration
    /// stays if it was updated after the time that the service names, or else after the send began. Removals beyond the notification's
    /// limit are held.
    private mutating func results(of settled: [SettledTarget]) async -> [DeliveryTally.Settled] {
        var results: [DeliveryTally.Settled] = []
        results.reserveCapacity(settled.count)
        let dead = await InvalidHandleRemover(directory: directory).remove(invalidHandles(settled), &tally.brake, &tally.outcome)
        let isAnyRemoved = !dead.removed.isEmpty || !dead.cleared.isEmpty
        for target in settled {
            var device = target.result.device
            if isAnyRemoved || target.result.isHandleInvalid || device.outcome == .skipped {
                device.isRegistrationRemoved =
                    device.registrationID.map { dead.removed.contains($0) || hasDied($0) } ?? dead.cleared.contains(device.handle)
            }
            if device.isRegistrationRemoved { context.meter.pruned(device.platform, device.removalReason) }
            let place = target.place.flatMap { directory.table.note(device.outcome, at: $0) ? $0 : nil }
            results.append(DeliveryTally.Settled(order: target.order, device: device, changedRow: place))
        }
        for (end, count) in results.ends { context.meter.ended(end.platform, end.outcome, count) }
        return results
    }

    private func hasDied(_ id: RegistrationID) -> Bool {
        if case .handleDied = directory.table.departure(of: id)?.reason { true } else { false }
    }

    /// The handles that push services report as invalid, each once.
    private func invalidHandles(_ settled: [SettledTarget]) -> [InvalidHandle] {
        var seen: Set<DeviceHandle> = []
        return settled.compactMap { target in
            let device = target.result.device
            guard target.result.isHandleInvalid, services.pipeline.trustsInvalidHandles(on: device.platform),
                seen.insert(device.handle).inserted
            else { return nil }
            return InvalidHandle(
                handle: device.handle, reason: device.reason, notificationID: id, validBefore: target.result.invalidSince ?? start)
        }
    }

    // MARK: - End

    /// Records how the run ended.
    ///
    /// - Returns: what the rest of the notification waits for; nil if it has ended or the hub stops.
    mutating func finish(_ end: DeliveryEnd) async -> Delay? {
        let (holds, moment) = (tally.holds, resumeTime)
        switch end {
        case .done:
            if let moment, !active.isCancelled(kept.sequence) {
                tally.outcome.note(holds.notices)
                active[id] = tally.outcome
                return .held(id: id, until: moment)
            }
            abandon(holds.groups, holds.duplicates)
        case .deferred(var patience):
            patience.heldUntil = moment.map { context.environment.steady.now + ($0 - context.now) }
            tally.outcome.note(holds.notices)
            // Stored results are read again when the notification resumes. Without any, still store that it has started.
            if !tally.unkept.isEmpty || !holds.isEmpty {
                await recorder.checkpoint(&tally)
            } else if kept.outcome.state != .processing {
                _ = await recorder.storeProgress(&tally)
            }
            if context.isStopping { _ = await recorder.storeProgress(&tally) }
            active[id] = nil
            return .service(patience)
        case .cutOff(let open, let rest, let duplicates):
            if context.isStopping {
                _ = await recorder.storeProgress(&tally)
                active[id] = nil
                return nil
            }
            let results = await results(of: open)
            tally.add(results, at: context.now)
            abandon(rest + holds.groups, duplicates + holds.duplicates)
        }
        let isStopped = active.isCancelled(kept.sequence) && tally.hasAbandoned
        tally.outcome.state =
            isStopped ? .canceled : tally.isAbandoned ? .abandoned : request.isTest ? .detailedStateAvailable : .completed
        self.end()
        return nil
    }

    private mutating func end() {
        tally.outcome.times.endedAt = context.now
        var outcome = tally.outcome
        outcome.devices = tally.devices
        active[id] = outcome
    }

    /// Records devices of a cancelled delivery as abandoned, and their unreported duplicates as skipped.
    private mutating func abandon(_ rest: [(group: RecipientGroup, members: [UInt32])], _ duplicates: [UInt32]) {
        let now = context.now
        for (group, members) in rest { tally.abandon(members, recipients(members, group), at: now) }
        tally.skip(duplicates: duplicates, recipients(duplicates, RecipientGroup()), at: now)
    }

    /// When the notification resumes if devices are deferred; nil if there are none. Not later than its expiration, so that expiry is
    /// reported in time.
    private var resumeTime: Timestamp? {
        guard let moment = tally.holds.moment else { return nil }
        guard let expiration = request.options.expiration, let began = tally.outcome.startedAt, began < expiration else { return moment }
        return min(moment, expiration)
    }
}

extension RetryState {
    /// The retry state of a notification that started earlier, in another process or before a deferral; it waits for no push service. Nil
    /// if it has not started.
    fileprivate init?(of kept: StoredNotification, _ environment: HubEnvironment) {
        guard let began = kept.outcome.startedAt else { return nil }
        self.init(began: began, start: environment.steady.now, services: [:])
    }
}
