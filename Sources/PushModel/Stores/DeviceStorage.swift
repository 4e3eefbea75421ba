/// The storage of an app on its device: texts by key.
package protocol DeviceStorage: Sendable {
    func text(_ key: String) async throws(PushError) -> String?
    /// Stores a text; nil removes it.
    func store(_ text: String?, _ key: String) async throws(PushError)
}
