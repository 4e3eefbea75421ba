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
