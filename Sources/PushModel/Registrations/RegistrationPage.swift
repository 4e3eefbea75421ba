/// One page of a list of registrations.
package struct RegistrationPage: Sendable, Equatable {
    package var registrations: [Registration]
    /// Nil on the last page.
    package var continuation: String?

    package init(registrations: [Registration], continuation: String?) {
        self.registrations = registrations
        self.continuation = continuation
    }
}
