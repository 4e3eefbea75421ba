/// The stored results of a hub's notifications for each device. The outbox adds them (`NotificationProgress.devices`).
///
/// Errors: `storage.unavailable` (503).
package protocol OutcomeStore: Sendable {
    /// The results of a notification's devices, in the order in which they were recorded, from index `start`.
    func devices(ofNotification sequence: Int64, from start: Int, limit: Int) async throws(PushError) -> [DeviceOutcome]
    /// At most `limit` results of devices that match a query, or of all devices if nil, in the order in which they were recorded. Reads all
    /// results of the notification, in parts.
    func outcomes(
        ofNotification sequence: Int64, matching query: DeviceOutcomeQuery?, limit: Int
    ) async throws(PushError) -> [RecordedOutcome]
    /// Counts the notification's devices by result, with an example of each.
    func tally(ofNotification sequence: Int64) async throws(PushError) -> OutcomeTally
    /// Devices removed because a push service reported their handles as invalid (`isRegistrationRemoved`), those of the latest notification
    /// first: those after `position` in this order, or from the first if nil.
    func removedDevices(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice]
}
