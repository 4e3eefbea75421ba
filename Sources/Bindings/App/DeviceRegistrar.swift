package import PushModel

/// The registration flow of the tutorials' app: gets an id from the backend by handle and puts the registration. Retries once with a new
/// id if the hub reports that the id is gone (410) or the remembered id belongs to another user.
package struct DeviceRegistrar: Sendable {
    package let backend: any DeviceRegistrationGateway

    package init(backend: any DeviceRegistrationGateway) {
        self.backend = backend
    }

    /// - Parameter rememberedID: the id that the device stored last time; nil requests one by handle.
    package func register(
        _ session: Session, _ description: RegistrationDescription, rememberedID: RegistrationID? = nil
    ) async throws(PushError) -> Registration {
        let id: RegistrationID
        if let rememberedID {
            id = rememberedID
        } else {
            id = try await backend.registrationID(session, handle: description.handle)
        }
        do {
            return try await backend.putRegistration(session, id, description)
        } catch  where error.code == "hub.gone" || error.code == "backend.forbidden" {
            let fresh = try await backend.registrationID(session, handle: description.handle)
            return try await backend.putRegistration(session, fresh, description)
        }
    }
}
