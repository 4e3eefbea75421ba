import PushModel

/// The lab's clock for plugin calls. While a call sleeps, it does not stop the clock from advancing.
struct PluginCallClock: HubClock {
    let base: LabClock
    let thread: LabThread

    var now: Timestamp { base.now }

    func sleep(until deadline: Timestamp) async throws {
        // Runs on the lab's thread, so that the thread is not idle between the task's wake-up and `beginOutsideWait`.
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
