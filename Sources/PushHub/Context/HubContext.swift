import PushModel

/// The context that the parts of a hub share: its dependencies, its settings, its lifecycle, and the pauses between tries.
///
/// Not thread-safe: it is part of the state of the actor that owns it.
final class HubContext {
    let environment: HubEnvironment
    let store: any HubStore
    let metrics: HubMetrics
    let lifecycle: HubLifecycle
    let events: HubEventRecorder
    /// Changed only by the actor that owns the context.
    var settings: HubSettings
    /// Back-off sleeps of cancelled work that still has to store its end.
    private var backOffTasks: [Int: Task<Void, Never>] = [:]
    private var backOffs = 0

    init(environment: HubEnvironment, store: any HubStore, metrics: HubMetrics, lifecycle: HubLifecycle, settings: HubSettings) {
        (self.environment, self.store, self.metrics, self.lifecycle) = (environment, store, metrics, lifecycle)
        self.settings = settings
        events = HubEventRecorder(environment: environment, store: store, hub: settings.name)
    }

    var name: String { settings.name }
    var now: Timestamp { environment.clock.now }
    var isStopping: Bool { lifecycle.isStopping }

    // MARK: - Back-off

    /// The first pause after a failure.
    static let firstPause: Duration = .seconds(1)

    /// Sleeps, and doubles the pause up to a minute. Stopping the hub ends the sleep. Cancelling the notification does not, because its
    /// end still has to be stored.
    func backOff(_ pause: inout Duration) async {
        let (clock, end) = (environment.steady, environment.steady.now + pause)
        pause = min(pause * 2, .seconds(60))
        guard Task.isCancelled, !isStopping else {
            try? await clock.sleep(until: end)
            return
        }
        backOffs += 1
        let (number, sleeper) = (backOffs, environment.start { try? await clock.sleep(until: end) })
        backOffTasks[number] = sleeper
        await sleeper.value
        backOffTasks[number] = nil
    }

    /// Ends all back-off sleeps of cancelled work, in a fixed order, so that runs are reproducible.
    func cancelBackOffs() {
        for (_, sleeper) in backOffTasks.sorted(by: { $0.key < $1.key }) { sleeper.cancel() }
    }
}
