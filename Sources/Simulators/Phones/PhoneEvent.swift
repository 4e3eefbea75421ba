/// An event in the delivery of an accepted push to a phone.
package struct PhoneEvent: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// It arrived on the phone.
        case delivered
        /// The phone is offline; the service stores the push.
        case stored
        /// The phone is in low power mode; the push waits for full power.
        case deferred
        /// A newer push replaced it, in the service's storage or on the screen.
        case replaced(by: String)
        /// It expired before it could be delivered.
        case expired
        /// The service or the phone discarded it.
        case dropped(reason: String)
        /// It is on the screen.
        case shown(text: String)
    }

    /// Milliseconds since 1970.
    package var time: Int64
    package var phone: PhoneID
    /// The id of the push, as in `InboxItem.id`.
    package var push: String
    package var kind: Kind
}
