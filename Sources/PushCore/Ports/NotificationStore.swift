/// Where a hub's notifications lie: what was accepted and not yet delivered (the outbox), and what became of the rest.
///
/// Errors: `storage.unavailable` (503) where nothing could be kept; then nothing was.
package protocol NotificationStore: Sendable {
    /// Keeps a new notification; once this has answered `accepted`, no crash loses it. Throws `plan.expired` (410) for one that is bound to
    /// a plan which is not there any more.
    func accept(_ notification: KeptNotification) async throws(PushError) -> Acceptance
    /// What `accept` answers for a key that was used before; nil for one that was not.
    func acceptance(under key: IdempotencyKey) async throws(PushError) -> Acceptance?
    /// Those that have not ended (`Enqueued`, `Scheduled`, `Processing`) with a sequence above `sequence`, in order.
    ///
    /// Throws `storage.corrupt` where one of them cannot be read, with its number as the detail `sequence`.
    func unfinished(after sequence: Int64, limit: Int) async throws(PushError) -> [KeptNotification]
    /// Keeps news of a notification: its outcome takes the place of the one before, devices and last outcomes are added.
    func record(_ progress: NotificationProgress) async throws(PushError)
    /// Those of these numbers that have not ended, by number.
    func unfinished(_ sequences: [Int64]) async throws(PushError) -> [KeptNotification]
    /// Nil where there is none with this sequence, or no longer.
    func notification(_ sequence: Int64) async throws(PushError) -> KeptNotification?
    /// Newest first, those below `sequence`, or from the newest on for nil.
    func notifications(before sequence: Int64?, limit: Int) async throws(PushError) -> [KeptNotification]
    /// What became of the devices of one notification, in the order in which it was recorded, from number `start` on.
    func devices(ofNotification sequence: Int64, from start: Int, limit: Int) async throws(PushError) -> [DeviceOutcome]
    /// What became of those of its devices that a probe names, of all for nil, in the order in which it was recorded, at most `limit`.
    /// All of a notification is read through for them, a part at a time.
    func outcomes(
        ofNotification sequence: Int64, matching probe: OutcomeProbe?, limit: Int
    ) async throws(PushError) -> [RecordedOutcome]
    /// How many of its devices ended how, with an example of each.
    func tally(ofNotification sequence: Int64) async throws(PushError) -> OutcomeTally
    /// Devices that left because a push service called their handles dead (`isRegistrationRemoved`), of the latest
    /// notification first, those behind `position` in this order, or from the first on for nil.
    func deadDevices(after position: DeadDevice.Position?, limit: Int) async throws(PushError) -> [DeadDevice]
    /// Forgets notifications that ended before `moment` with their devices and keys, oldest first, at most `limit`;
    /// answers how many.
    func removeEnded(before moment: Timestamp, limit: Int) async throws(PushError) -> Int
}

/// All that a hub keeps.
package typealias HubStore = RegistrationStore & NotificationStore & JobStore & PrunedStore & HeldRemovalStore & PlanStore
