import Bindings
import PushModel

extension Lab {
    /// Stops the lab's clock from advancing during calls of plugins: see ``LabThread``.
    package var callTracker: PluginCallTracker {
        PluginCallTracker(
            began: { [thread] in thread.beginOutsideWait() }, ended: { [thread] in thread.endOutsideWait() },
            clock: PluginCallClock(base: clock, thread: thread))
    }
}

/// The lab's clock for plugin calls. While a call sleeps, it does not stop the clock from advancing.
private struct PluginCallClock: HubClock {
    let base: LabClock
    let thread: LabThread

    var now: Timestamp { base.now }

    func sleep(until deadline: Timestamp) async throws {
        // Runs on the lab's thread, so that the thread is not quiet between the task's wake-up and `beginOutsideWait`.
        let sleep = Task(executorPreference: thread) {
            defer { thread.beginOutsideWait() }
            try await base.sleep(until: deadline)
        }
        thread.endOutsideWait()
        try await withTaskCancellationHandler {
            try await sleep.value
        } onCancel: {
            sleep.cancel()
        }
    }
}
