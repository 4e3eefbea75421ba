/// The external dependencies of the core services: time, randomness, background work, an observer, hooks.
package struct HubEnvironment: Sendable {
    package var clock: any HubClock
    /// The monotonic clock, for intervals.
    package let steady: any HubClock
    package var random: any RandomSource
    /// Starts work that outlives its call, such as a scheduled send. A rehearsal runs it on the run's own thread, so that its order is
    /// repeatable. The work does not count as a plugin's, even if a plugin's call started it: all hooks are called for it. It is not
    /// charged to a run either: see ``start(for:_:)``.
    package var start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    private let startAsCaller: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// Receives the core's steps while it is watched, and warnings at any time.
    package var observer: (@Sendable (CoreEvent) -> Void)?
    /// Whether the observer receives every step, down to single devices.
    package var isWatched: @Sendable () -> Bool
    /// The hooks to call during sends and registrations.
    package var hooks: any HubHooks
    /// The events to store for flows.
    package var events: HubEvents
    /// Observes simulated devices; nil if devices are real.
    package var deviceObserver: (any DeviceObserver)?

    package init(
        clock: any HubClock, random: any RandomSource,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>,
        observer: (@Sendable (CoreEvent) -> Void)? = nil, isWatched: @escaping @Sendable () -> Bool = { true },
        hooks: any HubHooks = NoHooks(), events: HubEvents = HubEvents(), deviceObserver: (any DeviceObserver)? = nil
    ) {
        self.clock = clock
        steady = clock.steady
        self.random = random
        startAsCaller = start
        self.start = { work in
            // A task inherits task-local values, but this work outlives the call that started it.
            ChargedWork.withoutRun {
                HookOrigin.plugins.isEmpty ? start(work) : HookOrigin.$plugins.withValue([]) { start(work) }
            }
        }
        self.observer = observer
        self.isWatched = isWatched
        self.hooks = hooks
        self.events = events
        self.deviceObserver = deviceObserver
    }

    /// Starts work like ``start``, for a run that is charged for it; nil for none.
    package func start(
        for account: (any WorkAccount)?, _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        guard let account else { return start(work) }
        // The send was accepted, so it is delivered even if the run has ended: only its CPU time counts.
        return ChargedWork.withoutRun {
            HookOrigin.$plugins.withValue([]) { ChargedWork.$account.withValue(account) { startAsCaller(work) } }
        }
    }

    package func note(_ area: CoreEvent.Area, _ text: @autoclosure () -> String) {
        guard let observer, isWatched() else { return }
        observer(CoreEvent(time: clock.now, area: area, text: text()))
    }

    /// Reports something that an operator should know.
    package func warn(_ area: CoreEvent.Area, _ text: @autoclosure () -> String) {
        observer?(CoreEvent(time: clock.now, area: area, text: text(), isWarning: true))
    }
}

/// A step of the core, for traces. Never contains a secret.
package struct CoreEvent: Sendable, Equatable {
    package enum Area: String, Sendable { case backend, hub, audience, render, delivery, feedback, schedule, phone }

    package var time: Timestamp
    package var area: Area
    package var text: String
    /// Whether this reports a lasting problem.
    package var isWarning: Bool

    package init(time: Timestamp, area: Area, text: String, isWarning: Bool = false) {
        self.time = time
        self.area = area
        self.text = text
        self.isWarning = isWarning
    }
}
