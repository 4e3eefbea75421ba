/// Reads what simulated devices receive.
package protocol InboxReader: Sendable {
    func inbox(of id: DeviceID) async throws(PushError) -> [InboxItem]
    /// Suspends until the inbox holds more than `count` items or the deadline is reached. Returns the items.
    func waitForItems(moreThan count: Int, on id: DeviceID, until deadline: Timestamp) async throws(PushError)
        -> [InboxItem]
    /// Suspends until the app is woken by a push that it handles itself. Returns pushes in the order of arrival.
    func nextPush(on id: DeviceID) async throws -> InboxItem
    func events(since index: Int) async -> [DeviceEvent]
}
