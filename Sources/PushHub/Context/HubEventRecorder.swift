import PushModel

/// Makes the events for flows, which are stored in the same transaction as the change.
struct HubEventRecorder: Sendable {
    let environment: HubEnvironment
    let store: any HubStore
    /// The hub's name.
    let hub: String

    /// The event, or nothing if no flow subscribes to its kind.
    private func event(_ kind: HubEvent.Kind, _ event: (Timestamp, [String]) -> HubEvent) -> [HubEvent] {
        environment.events.isObserved(kind) ? [event(environment.clock.now, HookOrigin.plugins)] : []
    }

    func events(of registration: Registration, isNew: Bool) -> [HubEvent] {
        event(isNew ? .registrationCreated : .registrationUpdated) {
            .registration(registration, isNew: isNew, hub: hub, at: $0, origin: $1)
        }
    }

    func events(of installation: Installation, isNew: Bool) -> [HubEvent] {
        event(isNew ? .registrationCreated : .registrationUpdated) {
            .installation(installation, isNew: isNew, hub: hub, at: $0, origin: $1)
        }
    }

    func deletion(_ kind: String, _ id: String, _ platform: Platform) -> [HubEvent] {
        event(.registrationDeleted) { .deletion(kind, id, platform, hub: hub, at: $0, origin: $1) }
    }

    func invalidHandleEvents(of devices: [PrunedDevice]) -> [HubEvent] {
        guard environment.events.isObserved(.tokenExpired) else { return [] }
        return devices.map { .invalidHandle(of: $0, hub: hub, origin: []) }
    }

    /// Stores the progress of a notification, and with its end the event for flows.
    ///
    /// - Parameter origin: origin of the notification.
    func record(_ progress: NotificationProgress, of origin: [String]) async throws(PushError) {
        var progress = progress
        progress.events = completion(progress.outcome, origin: origin)
        try await store.record(progress)
        if !progress.events.isEmpty { environment.events.notify() }
    }

    private func completion(_ outcome: NotificationOutcome, origin: [String]) -> [HubEvent] {
        guard outcome.state.isFinal else { return [] }
        return event(.notificationCompleted) { time, _ in .completion(outcome, hub: hub, at: time, origin: origin) }
    }
}
