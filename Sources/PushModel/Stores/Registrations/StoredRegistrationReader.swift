/// Receives the stored registrations of a hub row by row. See `StoredHubReader`.
package protocol StoredRegistrationReader: Sendable {
    /// Announces registrations in rows below `end`. Reading is fastest if they arrive in row order.
    mutating func expect(registrationsBelow end: UInt32)
    /// - Parameter fullRegistration: makes the full registration, with its template compiled.
    mutating func add(_ registration: StoredRegistration, fullRegistration: () throws(PushError) -> Registration) throws(PushError)
    /// Adds a full registration.
    mutating func add(_ registration: RegistrationRow) throws(PushError)
    /// Adds the outcome of the last push to a registration. Not called for registrations without a push.
    mutating func add(_ outcome: OutcomeName, at row: UInt32)
}
