/// Selects removed registrations.
package enum DeletedRegistrationFilter: Sendable, Equatable {
    case installation(String)
    case handle(DeviceHandle)
    case registration(RegistrationID)
}
