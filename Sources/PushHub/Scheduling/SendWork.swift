import PushModel

/// Work of a notification that a scheduler starts as a task.
enum SendWork: Sendable {
    /// Delivers a notification from the outbox.
    case deliver(StoredNotification)
    /// Reloads a notification that was deferred or queued, and delivers it to the devices that have no result yet.
    case resume(Int64, RetryState?)
    /// Stores the results of a notification with deferred devices.
    case storeDeferred(DeliveryTally, until: Timestamp)
    /// Stores the end of a notification.
    case storeEnd(DeliveryTally)
}

/// The actor that owns a scheduler, as the scheduler reaches it from tasks.
protocol SendWorker: Actor {
    /// Returns what the notification has to wait for; nil when it is done.
    func perform(_ work: SendWork) async -> Delay?
    func performed(_ sequence: Int64, _ delay: Delay?)
    func scheduleAlarmFired(_ generation: Int)
    func scheduleAlarmStopped(_ generation: Int) async
    func deferralAlarmFired(_ time: Timestamp)
    func refillOutbox() async
}
