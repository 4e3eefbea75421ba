/// What became of a push between the service that accepted it and the screen.
package struct PhoneEvent: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// It reached the phone.
        case delivered
        /// The phone is offline; the service keeps it.
        case stored
        /// The phone saves power; the push waits until it has full power.
        case deferred
        /// A newer one took its place, in the service's store or on the screen.
        case replaced(by: String)
        /// Its time ran out before it could be delivered.
        case expired
        /// The service or the phone threw it away.
        case dropped(reason: String)
        /// The user can read it.
        case shown(text: String)
    }

    /// Milliseconds since 1970.
    package var time: Int64
    package var phone: PhoneID
    /// The id of the push, as `InboxItem.id`.
    package var push: String
    package var kind: Kind
}
