/// Controls simulated devices and the app on them.
package protocol DeviceController: Sendable {
    func perform(_ action: DeviceAction, on id: DeviceID) async throws(PushError)
    /// The handle that the push service gave to the app. Throws `device.uninstalled`.
    func handle(of id: DeviceID) async throws(PushError) -> DeviceHandle
    func storage(of id: DeviceID) async throws(PushError) -> [String: String]
    func store(_ value: String?, for key: String, on id: DeviceID) async throws(PushError)
}
