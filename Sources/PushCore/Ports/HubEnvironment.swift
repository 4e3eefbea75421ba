/// What the core services take from outside: time, randomness, background work, an observer, hooks.
package struct HubEnvironment: Sendable {
    package var clock: any HubClock
    /// For pauses.
    package let steady: any HubClock
    package var random: any RandomSource
    /// Starts work that outlives the call that asked for it (a scheduled send). A rehearsal runs it on the run's own
    /// thread, so that its order is repeatable. It is nobody's work but the core's: no hook is left out of it because a plugin's call
    /// was its occasion.
    package var start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// Told what the core did, when somebody watches, and what goes wrong at any time.
    package var observer: (@Sendable (CoreEvent) -> Void)?
    /// Whether somebody watches: of each device there is something to tell.
    package var isWatched: @Sendable () -> Bool
    /// Who is asked and told on the way.
    package var hooks: any HubHooks
    /// What is kept of what happens, for flows.
    package var events: HubEvents
    /// Who sees what phones do; nil where these are real.
    package var witness: (any PhoneWitness)?

    package init(
        clock: any HubClock, random: any RandomSource,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>,
        observer: (@Sendable (CoreEvent) -> Void)? = nil, isWatched: @escaping @Sendable () -> Bool = { true },
        hooks: any HubHooks = NoHooks(), events: HubEvents = HubEvents(), witness: (any PhoneWitness)? = nil
    ) {
        self.clock = clock
        steady = clock.steady
        self.random = random
        self.start = { work in
            guard !HookOrigin.plugins.isEmpty else { return start(work) }
            // A task inherits what is bound where it is made, and an alarm outlives the call that set it.
            return HookOrigin.$plugins.withValue([]) { start(work) }
        }
        self.observer = observer
        self.isWatched = isWatched
        self.hooks = hooks
        self.events = events
        self.witness = witness
    }

    func note(_ area: CoreEvent.Area, _ text: @autoclosure () -> String) {
        guard let observer, isWatched() else { return }
        observer(CoreEvent(time: clock.now, area: area, text: text()))
    }

    /// What an operator should know of.
    func warn(_ area: CoreEvent.Area, _ text: @autoclosure () -> String) {
        observer?(CoreEvent(time: clock.now, area: area, text: text(), isWarning: true))
    }
}

/// A step of the core, for traces. Never holds a secret.
package struct CoreEvent: Sendable, Equatable {
    package enum Area: String, Sendable { case backend, hub, audience, render, delivery, feedback, schedule, phone }

    package var time: Timestamp
    package var area: Area
    package var text: String
    /// Something is wrong, and lasts.
    package var isWarning: Bool

    package init(time: Timestamp, area: Area, text: String, isWarning: Bool = false) {
        self.time = time
        self.area = area
        self.text = text
        self.isWarning = isWarning
    }
}
