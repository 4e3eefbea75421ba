/// The simulated devices of a lab.
package protocol LabDevices: Sendable {
    /// Adds a device that is switched on and has the app installed. Throws `device.exists` for a name in use.
    func addDevice(_ description: DeviceDescription) async throws(PushError) -> DeviceID
    func device(_ id: DeviceID) async throws(PushError) -> DeviceDescription
    /// All devices, in the order in which they were added.
    func devices() async -> [DeviceID]
}
