// Notifications that wait for their moment: one alarm, for the first of them.
extension NotificationHub {
    func wait(for moment: Timestamp, _ kept: KeptNotification) {
        environment.note(.schedule, "\(kept.outcome.id) waits until \(moment)")
        schedule.insert(kept.outcome.id, Schedule.Entry(sequence: kept.sequence, moment: moment))
        rearm()
    }

    /// Sets the alarm to the first moment, if it is set to another.
    func rearm() {
        let next = schedule.nextMoment()
        guard next != schedule.armed, !isStopping else { return }
        schedule.alarm?.cancel()
        schedule.armed = next
        schedule.alarm = nil
        schedule.generation += 1
        guard let next else { return }
        let (clock, generation) = (environment.clock, schedule.generation)
        schedule.alarm = environment.start { [weak self] in
            do {
                try await clock.sleep(until: next)
            } catch {
                await self?.alarmStopped(generation)
                return
            }
            await self?.ring(generation)
        }
    }

    private func ring(_ generation: Int) {
        guard schedule.generation == generation else { return }
        schedule.armed = nil
        schedule.alarm = nil
        while let (_, entry) = schedule.popDue(by: environment.clock.now) {
            outbox.append(behind: [entry.sequence])
        }
        pump()
        rearm()
    }

    /// The alarm was stopped from outside, not set to another moment: nobody will wake for what waits.
    private func alarmStopped(_ generation: Int) async {
        guard schedule.generation == generation, !isStopping else { return }
        schedule.armed = nil
        schedule.alarm = nil
        for id in schedule.ids {
            guard let entry = schedule.remove(id) else { continue }
            if entry.isHeld {
                stops.insert(entry.sequence)
                takePlace(entry.sequence) { hub in await hub.goOn(entry.sequence, nil) }
                continue
            }
            do throws(PushError) {
                try await settleCanceled(id, entry.sequence)
            } catch {
                schedule.insert(id, entry)
                environment.note(.schedule, "\(id) could not be cancelled: \(error.message)")
            }
        }
    }

    func settleCanceled(_ id: String, _ sequence: Int64) async throws(PushError) {
        guard let kept = try await store.notification(sequence) else { return }
        var outcome = kept.outcome
        outcome.state = .canceled
        outcome.endedAt = environment.clock.now
        try await record(NotificationProgress(sequence: sequence, outcome: outcome, devices: []), of: kept.origin)
        environment.note(.schedule, "\(id) cancelled")
        endedInBackground(outcome, of: kept.origin)
    }
}
