// The app backend of 2013: one registration per installation, tagged with the bare name of its user.
extension AppBackend {
    /// The device's registration is the first that carries the installation id and has either the device's handle, for
    /// whoever holds the handle holds the device, or the tags that this call gives to the same user. Others of that kind
    /// are deleted. What another user has under the same installation id and another handle is left alone: to know an
    /// installation id must not be enough to take a device off the air. So are templates and what stands for an
    /// installation of the hub, which this call never makes.
    ///
    /// The user's bare name is a tag that any device may give itself, and may be the name of a topic, so nothing private
    /// is sent to it.
    ///
    /// Throws `backend.installation_id` for an id that is no UUID, which could be another user's name, and
    /// `backend.reserved_tag` for a user whose bare name, as a tag, stands for somebody else's devices.
    package func registerCurrentUser(
        _ session: Session, installationID: String, handle: DeviceHandle
    ) async throws(PushError) -> CurrentUserRegistration {
        let session = try await accounts.session(for: session.token)
        let installation = try Self.installationTag(installationID)
        let user = try Self.bareTag(of: session.username)
        let description = RegistrationDescription(handle: try handle.checked(), tags: [installation, user])
        let registration: Registration
        if let kept = try await keepOne(description, installation) {
            registration = kept
        } else {
            // Two calls at once may both find nothing; both then keep the same one.
            let created = try await hub.createRegistration(description)
            registration = try await keepOne(description, installation, created: created) ?? created
        }
        let outcome = try await hub.send(
            NotificationRequest(
                audience: .expression(.tag(user)),
                content: .native(AlertPayloads.currentUser(text: "Test notification for \(session.username)"))))
        return CurrentUserRegistration(registration: registration, outcome: outcome)
    }

    /// Updates the first registration of the device and deletes the others; nil when there is none.
    private func keepOne(
        _ description: RegistrationDescription, _ installation: Tag, created: Registration? = nil
    ) async throws(PushError) -> Registration? {
        var kept: Registration?
        for found in try await hub.allRegistrations(.tag(installation)) where found.isOfDevice(description) {
            if kept == nil {
                kept = found.id == created?.id ? created : try await update(found, to: description)
            } else {
                do {
                    try await hub.deleteRegistration(found.id, ifMatch: found.etag)
                } catch  where ["hub.not_found", "hub.gone", "hub.precondition_failed"].contains(error.code) {
                    // It left, or somebody has just written it: not ours to delete any more.
                }
            }
        }
        return kept
    }

    /// Tries once more when it changed meanwhile; nil when it left or is another device's now.
    private func update(
        _ found: Registration, to description: RegistrationDescription
    ) async throws(PushError) -> Registration? {
        var current = found
        var tries = 1
        while true {
            do {
                return try await hub.putRegistration(current.id, description, ifMatch: current.etag)
            } catch  where error.code == "hub.precondition_failed" && tries < Self.mostTries {
                tries += 1
                guard let changed = try await existingRegistration(current.id), changed.isOfDevice(description) else {
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
                "backend.installation_id", "the installation id is no UUID",
                hint: "make one when the app is installed, such as 0b6f7a8e-3c2d-4e5f-8a9b-1c2d3e4f5a6b", status: 400)
        }
        return tag
    }

    /// A name such as `username:bob`, or one that is an installation id, would be a tag of others' devices.
    private static func bareTag(of username: String) throws(PushError) -> Tag {
        let tag: Tag
        do {
            tag = try Tag(username)
        } catch {
            throw PushError(error)
        }
        guard !tag.isUserTag, !username.isUUID else {
            throw PushError(
                "backend.reserved_tag", "the name of the user \(username) cannot be the tag of a device: it stands for others",
                hint: "register through PUT /api/register, which gives the tag username:\(username)", status: 400)
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
    /// 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12 (RFC 9562, section 4), in any case.
    fileprivate var isUUID: Bool {
        let groups = utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }
}
