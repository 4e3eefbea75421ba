import PushModel

/// The delivery of one notification, in one run: from its targets to the results that are stored.
///
/// The owner calls ``begin()``, ``prepare(asking:)``, the pipeline, and ``finish(_:)``, and passes the results of the pipeline to
/// ``record(_:)``. Not thread-safe: it is part of the actor that owns the services.
struct DeliverySession {
    private let services: DeliveryServices
    private let stored: StoredNotification
    /// The retry state of the previous run; nil if the notification was not deferred.
    private let retryState: RetryState?
    /// The devices of the notification's plan; nil without a plan.
    private let planned: PlannedAudience?
    /// Whether the plan can never be read again; then nothing is sent.
    private let isPlanLost: Bool
    /// The targets that were found before the run, or when its reach was checked.
    private(set) var resolved: ResolvedTargets?
    private let start: Timestamp
    /// The results so far.
    private(set) var tally: DeliveryTally
    /// The devices that the notification is sent to.
    private(set) var targets = Targets()

    private var context: HubContext { services.context }
    private var directory: RegistrationDirectory { services.directory }
    private var active: ActiveNotifications { services.active }
    private var recorder: DeliveryRecorder { DeliveryRecorder(services: services) }
    private var request: NotificationRequest { stored.request }
    private var id: String { stored.outcome.id }

    /// - Parameters:
    ///   - resolved: the targets that were found when the notification was accepted; nil for none.
    ///   - keepsDevices: whether all results stay in memory until the end, for a sender who waits for them.
    init(
        _ stored: StoredNotification, _ retryState: RetryState?, _ plan: (audience: PlannedAudience?, isLost: Bool),
        _ resolved: ResolvedTargets?, keepsDevices: Bool, _ services: DeliveryServices
    ) {
        (self.services, self.stored, self.retryState, self.resolved) = (services, stored, retryState, resolved)
        (planned, isPlanLost) = plan
        services.directory.sweep()
        start = services.context.now
        tally = DeliveryTally(stored, start: start, keepsDevices: keepsDevices)
    }

    /// Number of devices from which a send is large. Large sends have a limit of their own. They are not deferred, because reloading so
    /// many results is too expensive: they wait in memory.
    static let largeSend = 10_000

    /// How the batches are dispatched.
    ///
    /// - Parameter isInTurn: whether the notification comes from the outbox, so that it may be deferred.
    func policy(isInTurn: Bool, _ slots: any SlotProvider) -> SendPipeline.DispatchPolicy {
        let (dispatch, retryState) = (context.settings.dispatch, self.retryState ?? RetryState(of: stored, context.environment))
        guard dispatch.isConcurrent else { return SendPipeline.DispatchPolicy(retryState: retryState) }
        guard isInTurn, request.pace == nil, targets.matched < Self.largeSend else {
            return SendPipeline.DispatchPolicy(batchesInFlight: dispatch.batchesInFlight, retryState: retryState)
        }
        return SendPipeline.DispatchPolicy(batchesInFlight: dispatch.batchesInFlight, isDeferrable: true, retryState: retryState) {
            service in
            await slots.acquireSlot(service)
        } releaseSlot: { service in
            await slots.releaseSlot(service)
        } waitForSlot: { service in
            await slots.waitForSlot(service)
        }
    }

    // MARK: - Start

    /// Marks the notification as in progress, unless it may not be sent or the hub stops. Returns whether delivery continues.
    mutating func begin() async -> Bool {
        if isPlanLost, context.isStopping {
            active[id] = nil
            return false
        }
        if isPlanLost, let binding = request.plan { tally.outcome.note([.planLost(plan: binding.id)]) }
        if retryState == nil, stored.outcome.state == .scheduled, let approved = request.approvedReach,
            let reach = await ReachCounter(services: services, plan: .some(planned)).reach(
                of: request, beyond: approved.devices, &resolved)
        {
            let notice = Notice.exceededApproval(reach: reach.count, approved)
            tally.outcome.note([notice])
            context.environment.warn(.delivery, "\(id): \(notice.text)")
            tally.outcome.state = .abandoned
            (tally.outcome.times.startedAt, tally.outcome.times.endedAt) = (start, start)
            active[id] = tally.outcome
            return false
        }
        if stored.outcome.state == .processing {
            await dropDelivered()
            if context.isStopping {
                active[id] = nil
                return false
            }
        }
        tally.outcome.state = .processing
        tally.outcome.times.startedAt = stored.outcome.startedAt ?? retryState?.began ?? start
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
    mutating func prepare(asking host: any HookedRegistrations) async -> Bool {
        // Taken, not copied: the targets are changed below.
        targets = resolved.take()?.targets(of: request, directory.table.revision) ?? services.targets(of: request, in: planned)
        context.environment.note(.audience, "\(id): \(targets.summary)")
        let brake = removalBrake
        if !tally.done.isEmpty { targets.drop(tally.done, in: directory.table) }
        if request.isTest { targets.sample(NotificationRequest.testSize, with: context.environment.random) }
        // Test sends reach too few devices for a limit.
        if !request.isTest { tally.brake = brake }
        tally.deferredDevices = await consultHooks(host)
        // Store deferrals before sending: the other devices may take long.
        if tally.hasNewDeferrals, !tally.deferredDevices.isEmpty { _ = await recorder.storeProgress(&tally) }
        if active.isCancelled(stored.sequence) {
            abandon(
                targets.groups.map { (RecipientGroup($0), $0.members) } + tally.deferredDevices.groups,
                targets.duplicates + tally.deferredDevices.duplicates)
            tally.outcome.state = .canceled
        } else if targets.isEmpty, tally.deferredDevices.isEmpty, tally.outcome.counts.isEmpty {
            tally.outcome.state = isPlanLost ? .abandoned : .noTargetFound
            tally.outcome.nearMisses = await NearMissFinder(directory: directory).sentences(for: request)
        } else {
            return true
        }
        end()
        return false
    }

    /// The limit on removed devices. The targets include those that have results, except removed registrations.
    private var removalBrake: RemovalBrake {
        let share = context.settings.feedback.maxRemovedShare
        guard share < 1 else { return RemovalBrake() }
        // Without all results, the number of removed registrations is an upper bound.
        let isComplete = tally.done.removedRegistrations == tally.outcome.removedCount
        let removed = isComplete ? tally.done.removedDevices : tally.outcome.removedCount
        let audience = targets.deviceCount(in: directory.table.columns) + (targets.direct == nil ? removed : 0)
        return RemovalBrake(share: share, audience: audience, removed: removed)
    }

    /// Asks the `beforeDeliver` hooks about the targets, platform by platform, and records the devices that get nothing.
    ///
    /// Hooks are skipped for expired and cancelled sends, and for devices that are deferred already.
    /// - Returns: the deferred devices, which are removed from `targets`.
    private mutating func consultHooks(_ host: any HookedRegistrations) async -> DeferredDevices {
        guard !targets.isEmpty, !active.isCancelled(stored.sequence), !hasExpired else { return DeferredDevices() }
        let directory = services.directory
        let waiting = stored.deferredDevices.waiting(after: context.now, outOf: &targets) { directory.table.columns.mark(at: $0) }
        guard context.environment.hooks.hasHook(.beforeDeliver), !targets.isEmpty else { return waiting }
        var rulings = DeliveryRulings()
        for (platform, members) in targets.byPlatform {
            let group = DeliveryGroup(
                members, on: platform, isDirect: targets.direct != nil, of: stored, hub: context.name, clock: context.environment.clock,
                registrations: host)
            var failure: PushError?
            do throws(PushError) {
                try await context.environment.hooks.beforeDeliver(group)
            } catch {
                failure = error
            }
            // A cancelled hook gave no complete answer.
            if active.isCancelled(stored.sequence) || context.isStopping && Task.isCancelled { return waiting }
            rulings.add(group, failure, isTest: request.isTest, now: context.now)
        }
        let parts = rulings.take(from: &targets)
        let batch = context.settings.dispatch.devicesPerBatch
        for part in parts {
            if let cause = part.cause {
                context.environment.note(.delivery, "\(id): not sent to \(part.members.count) devices: \(cause.text)")
            }
            for first in stride(from: 0, to: part.members.count, by: batch) {
                let members = Array(part.members[first..<min(first + batch, part.members.count)])
                await record(zip(members, recipients(members, RecipientGroup())).map(part.completed))
            }
        }
        var deferredDevices = waiting
        deferredDevices.add(rulings.deferredDevices)
        if targets.direct == nil { deferredDevices.note { directory.table.columns.mark(at: $0) } }
        return deferredDevices
    }

    private var hasExpired: Bool {
        guard let expiration = request.options.expiration, let began = tally.outcome.startedAt else { return false }
        return began < expiration && expiration <= context.now
    }

    /// The recipients for members of the targets, in the same order.
    private func recipients(_ members: [UInt32], _ group: RecipientGroup) -> [Recipient] {
        guard !members.isEmpty else { return [] }
        return targets.direct.map { handles in members.map { Recipient(handle: handles[Int($0)]) } }
            ?? directory.table.recipients(at: members, of: group)
    }

    // MARK: - Results

    /// Records results: removes devices with invalid handles, updates the outcome, and stores a step if it is full.
    mutating func record(_ completed: [CompletedTarget]) async {
        let results = await results(of: completed)
        tally.add(results, at: context.now)
        tally.outcome.note(services.pipeline.health.notices(of: completed))
        active[id] = tally.outcome
        active.setUnstored(tally.unstored, of: stored.sequence)
        if tally.unstored.count >= context.settings.dispatch.devicesPerStep { await recorder.checkpoint(&tally) }
    }

    /// Removes the registrations of handles that push services report as invalid, and returns the results of all devices. A registration
    /// stays if it was updated after the time that the service names, or else after the send began. Removals beyond the notification's
    /// limit are held.
    private mutating func results(of completed: [CompletedTarget]) async -> [DeliveryTally.CompletedDevice] {
        var results: [DeliveryTally.CompletedDevice] = []
        results.reserveCapacity(completed.count)
        let removal = await InvalidHandleRemover(directory: directory).remove(invalidHandles(completed), &tally.brake, &tally.outcome)
        let isAnyRemoved = !removal.removed.isEmpty || !removal.cleared.isEmpty
        for target in completed {
            var device = target.result.device
            if isAnyRemoved || target.result.isHandleInvalid || device.outcome == .skipped {
                device.isRegistrationRemoved =
                    device.registrationID.map { removal.removed.contains($0) || isRemovedAsInvalid($0) }
                    ?? removal.cleared.contains(device.handle)
            }
            if device.isRegistrationRemoved { context.metrics.pruned(device.platform, device.removalReason) }
            let row = target.row.flatMap { directory.table.note(device.outcome, at: $0) ? $0 : nil }
            results.append(DeliveryTally.CompletedDevice(order: target.order, device: device, changedRow: row))
        }
        for (end, count) in results.ends { context.metrics.ended(end.platform, end.outcome, count) }
        return results
    }

    private func isRemovedAsInvalid(_ id: RegistrationID) -> Bool {
        if case .invalidHandle = directory.table.tombstone(of: id)?.reason { true } else { false }
    }

    /// The handles that push services report as invalid, each once.
    private func invalidHandles(_ completed: [CompletedTarget]) -> [InvalidHandle] {
        var seen: Set<DeviceHandle> = []
        return completed.compactMap { target in
            let device = target.result.device
            guard target.result.isHandleInvalid, services.pipeline.health.trustsInvalidHandles(on: device.platform),
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
        let (deferredDevices, time) = (tally.deferredDevices, resumeTime)
        switch end {
        case .done:
            if let time, !active.isCancelled(stored.sequence) {
                tally.outcome.note(deferredDevices.notices)
                active[id] = tally.outcome
                return .deferredDevices(id: id, until: time)
            }
            abandon(deferredDevices.groups, deferredDevices.duplicates)
        case .deferred(var retryState):
            retryState.deferredUntil = time.map { context.environment.steady.now + ($0 - context.now) }
            tally.outcome.note(deferredDevices.notices)
            // Stored results are read again when the notification resumes. Without any, still store that it has started.
            if !tally.unstored.isEmpty || !deferredDevices.isEmpty {
                await recorder.checkpoint(&tally)
            } else if stored.outcome.state != .processing {
                _ = await recorder.storeProgress(&tally)
            }
            if context.isStopping { _ = await recorder.storeProgress(&tally) }
            active[id] = nil
            return .service(retryState)
        case .cancelled(let pending, let untried, let duplicates):
            if context.isStopping {
                _ = await recorder.storeProgress(&tally)
                active[id] = nil
                return nil
            }
            if ChargedWork.run?.canContinue == false {
                // The script that waited for the results has ended, and its run must not use more time.
                tally.outcome.state = .abandoned
                self.end()
                return nil
            }
            let results = await results(of: pending)
            tally.add(results, at: context.now)
            abandon(untried + deferredDevices.groups, duplicates + deferredDevices.duplicates)
        }
        let isStopped = active.isCancelled(stored.sequence) && tally.hasAbandoned
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
        guard let time = tally.deferredDevices.time else { return nil }
        guard let expiration = request.options.expiration, let began = tally.outcome.startedAt, began < expiration else { return time }
        return min(time, expiration)
    }
}

extension RetryState {
    /// The retry state of a notification that started earlier, in another process or before a deferral; it waits for no push service. Nil
    /// if it has not started.
    fileprivate init?(of stored: StoredNotification, _ environment: HubEnvironment) {
        guard let began = stored.outcome.startedAt else { return nil }
        self.init(began: began, start: environment.steady.now, services: [:])
    }
}
