package import PushModel

/// Stores many devices at once. Calls neither hooks nor flows.
///
/// Each device has an id, so that repeating an import changes the same devices.
package struct DeviceImport: Sendable {
    package enum Device: Sendable {
        case installation(Installation)
        case registration(RegistrationID, RegistrationDescription)

        /// Text that is different for devices that do not affect each other.
        fileprivate var key: String {
            switch self {
            case .installation(let installation): "i\(installation.id.lowercased())"
            case .registration(let id, _): "r\(id)"
            }
        }
    }

    private let hub: NotificationHub

    package init(hub: NotificationHub) { self.hub = hub }

    /// Stores devices, or only checks them. Devices with the same id are stored in order, all others share commits.
    ///
    /// Throws `storage.*` if the store fails; some of the devices may then be stored.
    /// - Parameter devices: each with its position.
    /// - Returns: the errors of those that were not stored, by position.
    package func store(_ devices: [(position: Int, device: Device)], isDryRun: Bool = false) async throws(PushError) -> [Int: PushError] {
        var errors: [Int: PushError] = [:]
        var part: [(position: Int, device: Device)] = []
        var keys: Set<String> = []
        for (position, device) in devices {
            if isDryRun {
                do throws(PushError) { try Self.check(device) } catch { errors[position] = error }
                continue
            }
            if !keys.insert(device.key).inserted {
                try await store(part, into: &errors)
                (part, keys) = ([], [device.key])
            }
            part.append((position, device))
        }
        try await store(part, into: &errors)
        return errors
    }

    private func store(_ part: [(position: Int, device: Device)], into errors: inout [Int: PushError]) async throws(PushError) {
        let failures = await withTaskGroup(of: (Int, PushError?).self) { group in
            for (position, device) in part {
                group.addTask {
                    // Not evaluated inside the returned value, as in `RegistrationImport`.
                    let error = await failure(of: device)
                    return (position, error)
                }
            }
            return await group.reduce(into: [Int: PushError]()) { found, attempt in found[attempt.0] = attempt.1 }
        }
        // A storage error would fail every other device, too.
        if let error = failures.values.first(where: { $0.code.hasPrefix("storage.") || $0.status == 503 }) { throw error }
        errors.merge(failures) { $1 }
    }

    /// Stores a device. Returns the error if it is not stored.
    private func failure(of device: Device) async -> PushError? {
        do throws(PushError) {
            switch device {
            case .installation(let installation): try await hub.importInstallation(installation)
            case .registration(let id, let description): _ = try await hub.importRegistration(id, description)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Throws the error of a device that is invalid by itself.
    private static func check(_ device: Device) throws(PushError) {
        switch device {
        case .installation(let installation): _ = try installation.checked()
        case .registration(_, let description):
            _ = try description.handle.checked()
            _ = try description.tags.checked()
        }
    }
}
