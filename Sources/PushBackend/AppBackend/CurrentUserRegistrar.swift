import PushModel

/// Registers devices as the app backend of the 2013 tutorial does: one registration per installation, tagged with the bare name of its
/// user.
struct CurrentUserRegistrar: Sendable {
    /// Maximum number of attempts to update a registration that other calls update at the same time.
    static let maximumTries = 50

    let hub: any RegistrationGateway & NotificationSender

    /// Registers a device for a user and sends a test notification to that user.
    func register(_ username: String, installationID: String, handle: DeviceHandle) async throws(PushError) -> CurrentUserRegistration {
        let installation = try Self.installationTag(installationID)
        let user = try Self.bareTag(of: username)
        let description = RegistrationDescription(handle: try handle.checked(), tags: [installation, user])
        let registration: Registration
        if let first = try await keepFirst(description, installation) {
            registration = first
        } else {
            // Two concurrent calls may both find none and create one. Both then keep the same one.
            let created = try await hub.createRegistration(description)
            registration = try await keepFirst(description, installation, created: created) ?? created
        }
        let outcome = try await hub.send(
            NotificationRequest(
                audience: .expression(.tag(user)),
                content: .native(AlertPayloads.currentUser(text: "Test notification for \(username)"))))
        return CurrentUserRegistration(registration: registration, outcome: outcome)
    }

    /// Updates the device's first registration and deletes the others. Nil if there is none.
    private func keepFirst(
        _ description: RegistrationDescription, _ installation: Tag, created: Registration? = nil
    ) async throws(PushError) -> Registration? {
        var first: Registration?
        for found in try await hub.allRegistrations(.tag(installation)) where found.isOfDevice(description) {
            if first == nil {
                first = found.id == created?.id ? created : try await update(found, to: description)
            } else {
                do {
                    try await hub.deleteRegistration(found.id, ifMatch: found.etag)
                } catch  where ["hub.not_found", "hub.gone", "hub.precondition_failed"].contains(error.code) {
                    // It was deleted or changed meanwhile, so it is not deleted here.
                }
            }
        }
        return first
    }

    /// Retries if the registration changes meanwhile. Nil if it was deleted or now belongs to another device.
    private func update(
        _ found: Registration, to description: RegistrationDescription
    ) async throws(PushError) -> Registration? {
        var current = found
        var tries = 1
        while true {
            do {
                return try await hub.putRegistration(current.id, description, ifMatch: current.etag)
            } catch  where error.code == "hub.precondition_failed" && tries < Self.maximumTries {
                tries += 1
                guard let changed = try await hub.existingRegistration(current.id), changed.isOfDevice(description) else {
                    return nil
                }
                current = changed
            } catch  where error.code == "hub.not_found" || error.code == "hub.gone" {
                return nil
            }
        }
    }

    private static func installationTag(_ id: String) throws(PushError) -> Tag {
        guard id.isUUID, let tag = Tag(validating: id) else {
            throw PushError(
                "backend.installation_id", "invalid installation id: not a UUID",
                hint: "create one when the app is installed, such as 0b6f7a8e-3c2d-4e5f-8a9b-1c2d3e4f5a6b", status: 400)
        }
        return tag
    }

    /// The bare name as a tag. Rejects names such as `username:bob` and installation ids, which are tags of other devices.
    private static func bareTag(of username: String) throws(PushError) -> Tag {
        let tag: Tag
        do {
            tag = try Tag(username)
        } catch {
            throw PushError(error)
        }
        guard !tag.isUserTag, !username.isUUID else {
            throw PushError(
                "backend.reserved_tag", "the user name \(username) cannot be a device's tag: that tag addresses other devices",
                hint: "register with PUT /api/register, which adds the tag username:\(username)", status: 400)
        }
        return tag
    }
}

extension Registration {
    fileprivate func isOfDevice(_ description: RegistrationDescription) -> Bool {
        installationID == nil && template == nil
            && (handle == description.handle || Set(tags) == Set(description.tags))
    }
}

extension String {
    /// 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12 (RFC 9562, section 4), in either case.
    fileprivate var isUUID: Bool {
        let groups = utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }
}

extension RegistrationGateway {
    /// The registration with this id; nil if there is none.
    func existingRegistration(_ id: RegistrationID) async throws(PushError) -> Registration? {
        do {
            return try await registration(id)
        } catch  where error.code == "hub.not_found" {
            return nil
        }
    }
}
