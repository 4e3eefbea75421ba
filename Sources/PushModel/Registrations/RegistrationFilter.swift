/// Selects registrations of a hub.
package enum RegistrationFilter: Sendable, Equatable {
    case all
    case tag(Tag)
    case handle(DeviceHandle)
    /// Registrations of browsers with this subscription endpoint.
    case endpoint(String)
}
