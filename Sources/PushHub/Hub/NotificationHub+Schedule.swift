import PushModel

// Scheduled notifications. One alarm is set to the earliest due time.
extension NotificationHub {
    func wait(for moment: Timestamp, _ kept: StoredNotification) {
        environment.note(.schedule, "\(kept.outcome.id) is scheduled for \(moment)")
        schedule.insert(kept.outcome.id, Schedule.Entry(sequence: kept.sequence, moment: moment))
        rearm()
    }

    /// Sets the alarm to the earliest due time, if it has changed.
    func rearm() {
        let next = schedule.nextDueTime()
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

    /// Cancels what is scheduled, after the alarm's task was cancelled from outside: no other task would wake it.
    private func alarmStopped(_ generation: Int) async {
        guard schedule.generation == generation, !isStopping else { return }
        schedule.armed = nil
        schedule.alarm = nil
        for id in schedule.ids {
            guard let entry = schedule.remove(id) else { continue }
            if entry.isHeld {
                stops.insert(entry.sequence)
                runSend(entry.sequence) { hub in await hub.resume(entry.sequence, nil) }
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
