import PushModel

/// Devices that have only a handle, as on a target with real phones.
struct HandleLab: DeviceLab {
    let inner: any DeviceLab

    func addDevice(_ description: DeviceDescription) async throws(PushError) -> DeviceID { try await inner.addDevice(description) }
    func device(_ id: DeviceID) async throws(PushError) -> DeviceDescription { try await inner.device(id) }
    func handle(of id: DeviceID) async throws(PushError) -> DeviceHandle { try await inner.handle(of: id) }
    func storage(of id: DeviceID) async throws(PushError) -> [String: String] { try await inner.storage(of: id) }
    func store(_ value: String?, for key: String, on id: DeviceID) async throws(PushError) {
        try await inner.store(value, for: key, on: id)
    }
    func devices() async -> [DeviceID] { await inner.devices() }
    func events(since index: Int) async -> [DeviceEvent] { [] }

    func inbox(of id: DeviceID) async throws(PushError) -> [InboxItem] { throw Self.refusal }
    func perform(_ action: DeviceAction, on id: DeviceID) async throws(PushError) { throw Self.refusal }
    func waitForItems(moreThan count: Int, on id: DeviceID, until deadline: Timestamp) async throws(PushError) -> [InboxItem] {
        throw Self.refusal
    }
    func nextPush(on id: DeviceID) async throws -> InboxItem { throw Self.refusal }

    private static let refusal = PushError("target.unsupported", "the phones are real", hint: "put this into push.rehearse")
}
