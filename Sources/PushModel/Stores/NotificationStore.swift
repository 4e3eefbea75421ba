/// Stores a hub's notifications: those accepted but not yet delivered (the outbox), and the results of the others.
///
/// Errors: `storage.unavailable` (503) if nothing was stored.
package protocol NotificationStore: Sendable {
    /// Stores a new notification. Once this returns `accepted`, a crash does not lose it. Throws `plan.expired` (410) if the notification
    /// is bound to a plan that no longer exists.
    func accept(_ notification: StoredNotification) async throws(PushError) -> AcceptanceResult
    /// What `accept` would return for this key; nil if the key is unused.
    func acceptance(under key: IdempotencyKey) async throws(PushError) -> AcceptanceResult?
    /// Notifications that have not ended (`Enqueued`, `Scheduled`, `Processing`) with a sequence above `sequence`, in order.
    ///
    /// Throws `storage.corrupt` if one of them is unreadable, with its sequence in the details as `sequence`.
    func unfinished(after sequence: Int64, limit: Int) async throws(PushError) -> [StoredNotification]
    /// Stores an update: replaces the outcome, and adds the devices and last outcomes.
    func record(_ progress: NotificationProgress) async throws(PushError)
    /// Notifications with these sequences that have not ended, in order.
    func unfinished(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification]
    /// Nil if there is no notification with this sequence, or no longer.
    func notification(_ sequence: Int64) async throws(PushError) -> StoredNotification?
    /// Notifications below `sequence`, or from the newest if nil; newest first.
    func notifications(before sequence: Int64?, limit: Int) async throws(PushError) -> [StoredNotification]
    /// The results of a notification's devices, in the order in which they were recorded, from index `start`.
    func devices(ofNotification sequence: Int64, from start: Int, limit: Int) async throws(PushError) -> [DeviceOutcome]
    /// At most `limit` results of devices that match a probe, or of all devices if nil, in the order in which they were recorded. Reads all
    /// results of the notification, in parts.
    func outcomes(
        ofNotification sequence: Int64, matching probe: OutcomeProbe?, limit: Int
    ) async throws(PushError) -> [RecordedOutcome]
    /// Counts the notification's devices by result, with an example of each.
    func tally(ofNotification sequence: Int64) async throws(PushError) -> OutcomeTally
    /// Devices removed because a push service reported their handles as invalid (`isRegistrationRemoved`), those of the latest notification
    /// first: those after `position` in this order, or from the first if nil.
    func removedDevices(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice]
    /// Deletes at most `limit` notifications that ended before `time`, oldest first, with their devices and keys. Returns their number.
    func removeEnded(before time: Timestamp, limit: Int) async throws(PushError) -> Int
}

/// All stores of a hub.
package typealias HubStore = RegistrationStore & NotificationStore & JobStore & PrunedStore & HeldRemovalStore & PlanStore
