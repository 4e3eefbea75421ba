import PushModel

// Azure's feedback: devices removed because their handles are invalid.
extension NotificationHub {
    /// Lists removed devices, those of the latest notification first: at most `limit` after `position`, or from the first.
    package func feedback(after position: RemovedDevice.Position?, limit: Int) async throws(PushError) -> [RemovedDevice] {
        try await store.removedDevices(after: position, limit: limit)
    }
}
