/// What the tutorials' app does on the device: asks the backend for an id by handle, puts its registration, and once
/// more with a new id when the hub says that the id is gone (410), or when the id that it kept is another user's.
package struct DeviceRegistrar: Sendable {
    package let backend: any BackendGateway

    package init(backend: any BackendGateway) {
        self.backend = backend
    }

    /// `rememberedID` is the id that the device keeps from the last time; nil asks for one by handle.
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
