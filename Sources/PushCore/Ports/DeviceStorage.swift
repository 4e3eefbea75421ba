/// What an app keeps on its device: texts by key.
package protocol DeviceStorage: Sendable {
    func text(_ key: String) async throws(PushError) -> String?
    /// Nil removes.
    func store(_ text: String?, _ key: String) async throws(PushError)
}
