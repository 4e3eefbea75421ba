/// Observes what devices do with pushes. Only a lab can: its devices are simulated.
package protocol DeviceObserver: Sendable {
    /// What happened to a push on the device that has or had this handle, and the device's state. Nil if there is no such device.
    ///
    /// - Parameter push: the push service's id of the push, as connectors report it; nil if none was sent.
    func result(of push: String?, at handle: DeviceHandle) async -> DeviceResult?
    /// All handles that the named device has or had, the latest first. Empty if there is no such device.
    func handles(ofPhone name: String) async -> [DeviceHandle]
    /// The names of all devices, for "did you mean" hints.
    func phoneNames() async -> [String]
}
