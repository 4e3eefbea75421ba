/// Selects removed registrations.
package enum DepartedSubject: Sendable, Equatable {
    case installation(String)
    case handle(DeviceHandle)
    case registration(RegistrationID)
}
