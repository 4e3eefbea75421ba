// Which devices left because their push service called their handles dead.
extension NotificationHub {
    /// Of the latest notification first; at most `limit` behind `position`, or from the first on for nil.
    package func feedback(after position: DeadDevice.Position?, limit: Int) async throws(PushError) -> [DeadDevice] {
        try await store.deadDevices(after: position, limit: limit)
    }
}
