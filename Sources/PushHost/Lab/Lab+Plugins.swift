import Bindings
import PushCore

extension Lab {
    /// Lets the lab's time wait for calls of plugins: see ``LabThread``.
    var attendance: PluginAttendance {
        PluginAttendance(
            began: { [thread] in thread.goOut() }, ended: { [thread] in thread.comeBack() },
            clock: SleepersClock(base: clock, thread: thread))
    }
}

/// The time of a lab for those whom it waits for, but not while they sleep.
private struct SleepersClock: HubClock {
    let base: LabClock
    let thread: LabThread

    var now: Timestamp { base.now }

    func sleep(until deadline: Timestamp) async throws {
        // On the lab's thread, so that there is a job from the moment at which it wakes to that at which it is waited for again.
        let sleep = Task(executorPreference: thread) {
            defer { thread.goOut() }
            try await base.sleep(until: deadline)
        }
        thread.comeBack()
        try await withTaskCancellationHandler {
            try await sleep.value
        } onCancel: {
            sleep.cancel()
        }
    }
}
