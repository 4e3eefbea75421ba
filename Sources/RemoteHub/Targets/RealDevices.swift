package import PushModel
import Synchronization

/// Existing devices, which scripts know by the names of their handles in the settings. Their screens cannot be read and their state cannot
/// be changed from here.
package final class RealDevices: DeviceLab {
    private struct State {
        var devices: [DeviceDescription] = []
        var storage: [DeviceID: [String: String]] = [:]
    }

    private let target: String
    private let handles: [String: DeviceHandle]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - target: The target's name, for messages.
    ///   - handles: Handles by device name.
    package init(target: String, handles: [String: DeviceHandle]) {
        self.target = target
        self.handles = handles
    }

    /// Throws `target.device` for a name without a handle or with one of another platform, and `device.exists`.
    package func addDevice(_ description: DeviceDescription) async throws(PushError) -> DeviceID {
        guard let handle = handles[description.name] else {
            let near = nearest(description.name, in: handles.keys.sorted()).map { "; did you mean \"\($0)\"?" } ?? ""
            throw PushError(
                "target.device", "the settings have no handle for the device \"\(description.name)\" of \(target)\(near)",
                hint: "add \"\(description.name): { platform: \(description.platform.shortName), handle: … }\" under devices in "
                    + "the settings file")
        }
        guard handle.platform == description.platform else {
            throw PushError(
                "target.device",
                "the device \"\(description.name)\" of \(target) is one of \(handle.platform.displayName), not of \(description.platform.displayName)",
                hint: "correct the script or the settings")
        }
        let id: DeviceID? = state.withLock { state in
            guard !state.devices.contains(where: { $0.name == description.name }) else { return nil }
            state.devices.append(description)
            return DeviceID(rawValue: state.devices.count)
        }
        guard let id else {
            throw PushError(
                "device.exists", "a device named \"\(description.name)\" already exists", hint: "choose another name", status: 409)
        }
        return id
    }

    package func device(_ id: DeviceID) async throws(PushError) -> DeviceDescription {
        let devices = state.withLock { $0.devices }
        guard devices.indices.contains(id.rawValue - 1) else {
            throw PushError("device.not_found", "there is no such device", status: 404)
        }
        return devices[id.rawValue - 1]
    }

    package func handle(of id: DeviceID) async throws(PushError) -> DeviceHandle {
        let device = try await device(id)
        guard let handle = handles[device.name] else { throw PushError("device.not_found", "there is no such device", status: 404) }
        return handle
    }

    package func devices() async -> [DeviceID] { state.withLock { $0.devices.indices.map { DeviceID(rawValue: $0 + 1) } } }

    // MARK: - What only the app itself has

    /// Stored for the run only: the app's real storage is on the device.
    package func storage(of id: DeviceID) async throws(PushError) -> [String: String] { state.withLock { $0.storage[id] ?? [:] } }

    package func store(_ value: String?, for key: String, on id: DeviceID) async throws(PushError) {
        state.withLock { $0.storage[id, default: [:]][key] = value }
    }

    package func inbox(of id: DeviceID) async throws(PushError) -> [InboxItem] { throw unseen }

    package func perform(_ action: DeviceAction, on id: DeviceID) async throws(PushError) { throw unseen }

    package func waitForItems(
        moreThan count: Int, on id: DeviceID, until deadline: Timestamp
    ) async throws(PushError) -> [InboxItem] { throw unseen }

    package func nextPush(on id: DeviceID) async throws -> InboxItem { throw unseen }

    package func events(since index: Int) async -> [DeviceEvent] { [] }

    private var unseen: PushError {
        PushError(
            "target.unsupported", "the devices of \(target) are real: their screens and state cannot be read",
            hint: "put this into push.rehearse, which uses simulated phones")
    }
}
