import PushModel

/// A new notification in its stored form. Encoded before the transaction begins, to keep that short.
final class PostgreSQLNotificationRow: Sendable {
    let hub: Int64
    let notification: StoredNotification
    let request: String
    let columns: OutcomeColumns
    let origin: String?
    let deferredDevices: [UInt8]?

    /// Throws `storage.conflict` (500) if a number does not fit.
    init(_ notification: StoredNotification, hub: Int64) throws(PushError) {
        _ = try NotificationKey(hub: hub, sequence: notification.sequence)
        self.hub = hub
        self.notification = notification
        request = notification.request.storedJSON.text()
        columns = OutcomeColumns(notification.outcome)
        origin = NotificationRow.origin(of: notification)
        deferredDevices = notification.deferredDevices.isEmpty ? nil : notification.deferredDevices.stored
    }

    /// The number of the plan that it refers to.
    var plan: Int64? { notification.request.planNumber }

    /// Approximate number of bytes.
    var size: Int { request.utf8.count + (deferredDevices?.count ?? 0) }
}
