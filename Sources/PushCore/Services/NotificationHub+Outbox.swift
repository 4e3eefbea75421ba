import Synchronization

// The outbox: what is delivered when, and what waits.
extension NotificationHub {
    /// Goes on with what a process before this one accepted: to be called once, before anything is sent.
    ///
    /// A device whose outcome was kept gets nothing again; of those that were under way when that process died some may. A test
    /// send is not repeated, for whoever waited for it is gone.
    package func resume() async throws(PushError) {
        try await loadHeldRemovals()
        var last: Int64 = 0
        while true {
            let page = try await unfinished(after: &last)
            for kept in page {
                last = kept.sequence
                if kept.request.isTest {
                    await forget(kept)
                } else if kept.outcome.state == .scheduled, let moment = kept.outcome.scheduledFor {
                    schedule.insert(kept.outcome.id, Schedule.Entry(sequence: kept.sequence, moment: moment))
                } else {
                    outbox.append(behind: [kept.sequence])
                }
            }
            if page.isEmpty { break }
        }
        sweep()
        forget(table.leftovers)
        if outbox.count > 0 { environment.note(.delivery, "\(outbox.count) notifications go on from before") }
        rearm()
        pump()
    }

    /// The next that have not ended, but for those that cannot be read.
    ///
    /// - Parameter last: is moved beyond the latter.
    private func unfinished(after last: inout Int64) async throws(PushError) -> [KeptNotification] {
        var limit = 256
        while true {
            do throws(PushError) {
                return try await store.unfinished(after: last, limit: limit)
            } catch {
                guard let sequence = error.details["sequence"]?.int else { throw error }
                // One by one up to the row that is to blame.
                if limit == 1 { (last, limit) = (Int64(sequence), 256) } else { limit = 1 }
                if limit > 1 { leaveOut(error) }
            }
        }
    }

    /// Those of these numbers that have not ended and can be read.
    private func readable(_ sequences: [Int64]) async throws(PushError) -> [KeptNotification] {
        do throws(PushError) {
            return try await store.unfinished(sequences)
        } catch {
            guard !error.isRetryable else { throw error }
        }
        var found: [KeptNotification] = []
        for sequence in sequences {
            do throws(PushError) {
                found += try await store.unfinished([sequence])
            } catch {
                guard !error.isRetryable else { throw error }
                leaveOut(error)
            }
        }
        return found
    }

    private func leaveOut(_ error: PushError) {
        environment.warn(.delivery, "left out: \(error.message)")
        meter.leftOut()
    }

    /// A test send that nobody waits for any more. Where its end cannot be kept, the next start comes by it again.
    private func forget(_ test: KeptNotification) async {
        var outcome = test.outcome
        outcome.state = .unknown
        outcome.endedAt = environment.clock.now
        do throws(PushError) {
            try await record(NotificationProgress(sequence: test.sequence, outcome: outcome, devices: []), of: test.origin)
        } catch {
            environment.warn(.delivery, "\(outcome.id): its end is not on disk: \(error.message)")
        }
    }

    /// Begins nothing any more and waits for what is under way; what is not delivered then stays in the outbox. Ends that could
    /// not be kept are tried once more.
    package func stop() async {
        isStopping = true
        isClosed.store(true, ordering: .releasing)
        schedule.alarm?.cancel()
        endings.endAll()
        putOffs.alarm?.cancel()
        expiry.task?.cancel()
        // In order, so that the same accidents end the same way.
        for (_, delivery) in deliveries.sorted(by: { $0.key < $1.key }) { delivery.cancel() }
        for (_, sleeper) in sleepers.sorted(by: { $0.key < $1.key }) { sleeper.cancel() }
        while let (_, delivery) = deliveries.min(by: { $0.key < $1.key }) { await delivery.value }
        await expiry.task?.value
    }

    /// How many notifications were accepted and wait: to begin, or for a push service.
    package var backlog: Int { outbox.count + putOffs.count + crowds.count + paced.count }

    /// Most notifications that are under way, but for those that keep their places: enough that push services leave room for one that
    /// has none.
    private var places: Int {
        guard settings.isSideBySide else { return settings.concurrentNotifications }
        return settings.concurrentNotifications * max(pipeline.platforms.count, min(rooms.busy, DeliveryRun.mostOrigins) + 1)
    }

    /// Those that keep their places have others: a push service in trouble holds them up for half an hour.
    private var hasPlace: Bool { deliveries.count - crowds.begun - paced.begun < places }

    /// Starts deliveries as long as there is room; those that were put off go first.
    func pump() {
        guard !isStopping else { return }
        while hasPlace {
            if let (sequence, patience) = putOffs.next() {
                takePlace(sequence) { hub in await hub.goOn(sequence, patience) }
            } else if let sequence = crowds.next(limit: settings.concurrentDevices) ?? paced.next(limit: settings.concurrentNotifications) {
                takePlace(sequence) { hub in await hub.goOn(sequence, nil) }
            } else if let kept = outbox.next() {
                guard begins(kept) else { continue }
                live[kept.outcome.id] = kept.outcome
                takePlace(kept.sequence) { hub in await hub.deliverInTurn(kept, nil) }
            } else {
                break
            }
        }
        if outbox.isBehind, outbox.isLow, !outbox.isRefilling {
            outbox.isRefilling = true
            _ = environment.start { [weak self] in await self?.refill() }
        }
    }

    /// Whether a notification may begin; else it waits while others go past it.
    private func begins(_ kept: KeptNotification) -> Bool {
        if stops.contains(kept.sequence) { return true }
        let devices = mostDevices(of: kept.request)
        return kept.request.pace == nil || devices >= crowds.least
            ? crowds.begins(kept.sequence, devices: devices, limit: settings.concurrentDevices)
            : paced.begins(kept.sequence, devices: 1, limit: settings.concurrentNotifications)
    }

    private func mostDevices(of request: NotificationRequest) -> Int {
        switch request.audience {
        case .everyone: table.index.count
        case .expression(let expression): table.index.upperBound(expression)
        case .device: 1
        case .devices(let handles): handles.count
        }
    }

    /// - Parameter work: answers what the notification has to wait for, nil where it is done with.
    func takePlace(_ sequence: Int64, _ work: @escaping @Sendable (NotificationHub) async -> Delay?) {
        deliveries[sequence] = environment.start { [weak self] in
            guard let self else { return }
            await self.delivered(sequence, await work(self))
        }
    }

    private func delivered(_ sequence: Int64, _ delay: Delay?) {
        deliveries[sequence] = nil
        crowds.ended(sequence)
        paced.ended(sequence)
        switch delay {
        case nil: stops.remove(sequence)
        case .service(let patience):
            putOffs.insert(sequence, patience, now: environment.steady.now)
            // It was stopped while it gave its place back.
            if stops.contains(sequence) { putOffs.hurry(sequence) }
        case .held(let id, let moment): hold(id, sequence, until: moment)
        }
        // Room that somebody left unused meanwhile is for those in line.
        offerRoom(times: 1)
        pump()
        rearmPutOffs()
    }

    private func deliverInTurn(_ kept: KeptNotification, _ patience: Patience?) async -> Delay? {
        let (delivery, delay) = await deliver(kept, patience, isInTurn: true)
        // Its place is free when its end is kept, so that few ends are to be made up for at any time.
        if delivery.outcome.state.isFinal { await keepEnd(delivery) }
        if case .held = delay { await keepHeld(delivery) }
        return delay
    }

    /// Reads a notification that was put off or held, or had to wait for others, and goes on with those devices that have no verdict.
    func goOn(_ sequence: Int64, _ patience: Patience?) async -> Delay? {
        var pause = Self.firstPause
        while !isStopping {
            do throws(PushError) {
                guard let kept = try await store.unfinished([sequence]).first else { return nil }
                live[kept.outcome.id] = kept.outcome
                return await deliverInTurn(kept, patience)
            } catch {
                guard error.isRetryable else {
                    leaveOut(error)
                    return nil
                }
                environment.warn(.delivery, "notification \(sequence) cannot be read: \(error.message)")
                await rest(&pause)
            }
        }
        return nil
    }

    /// Reads the next notifications of the outbox from the store.
    private func refill() async {
        let wanted = Array(outbox.nextBehind)
        var found: [KeptNotification]?
        var pause = Self.firstPause
        while found == nil, !isStopping {
            do throws(PushError) {
                found = try await readable(wanted)
            } catch {
                environment.warn(.delivery, "the outbox cannot be read: \(error.message)")
                await rest(&pause)
            }
        }
        guard let found else { return }
        outbox.refill(found, insteadOf: wanted.count)
        outbox.isRefilling = false
        pump()
    }

    // MARK: - Room at a push service

    /// False where there is none; else the room is to be given back.
    func takeRoom(_ service: PushService) -> Bool {
        let busy = rooms.busy
        guard rooms.take(service, limit: settings.concurrentNotifications) else { return false }
        // There is a place more for those that go elsewhere.
        if rooms.busy > busy { pump() }
        return true
    }

    /// Waits in line. False where the task was cancelled; else the room is to be given back.
    func awaitRoom(_ service: PushService) async -> Bool {
        if takeRoom(service) { return true }
        let (number, turn) = rooms.wait(for: service)
        for await _ in turn { return true }
        if !rooms.leave(service, number) { giveBackRoom(service) }
        return false
    }

    func giveBackRoom(_ service: PushService) {
        rooms.giveBack(service)
        offerRoom(service)
        pump()
    }

    /// Room goes to those that are under way, and by turns to those that were put off, where these have a place.
    private func offerRoom(_ service: PushService) {
        let limit = settings.concurrentNotifications
        guard rooms.has(service, limit: limit) else { return }
        let now = environment.steady.now
        if hasPlace, rooms.isTurnOfOthers(service), putOffs.freed(service, now: now) {
            rooms.othersHadTurn(service)
        } else if !rooms.grant(service, limit: limit) {
            putOffs.freed(service, now: now)
        }
    }

    /// The same at every push service for which somebody waits.
    func offerRoom(times: Int) {
        for service in Set(putOffs.awaited).union(rooms.awaited).sorted() {
            for _ in 0..<times where putOffs.isAwaited(service) || rooms.isAwaited(service) { offerRoom(service) }
        }
    }

    /// Wakes those that were put off at the first of their moments.
    private func rearmPutOffs() {
        let next = putOffs.nextMoment
        guard next != putOffs.armed, !isStopping else { return }
        putOffs.alarm?.cancel()
        putOffs.armed = next
        putOffs.alarm = nil
        guard let next else { return }
        putOffs.alarm = environment.start { [weak self, clock = environment.steady] in
            guard (try? await clock.sleep(until: next)) != nil else { return }
            await self?.wakePutOffs(next)
        }
    }

    private func wakePutOffs(_ moment: Timestamp) {
        guard putOffs.armed == moment else { return }
        putOffs.armed = nil
        putOffs.alarm = nil
        putOffs.wake(environment.steady.now)
        pump()
        rearmPutOffs()
    }
}
