/// The result of storing a new secure payload.
package enum SecurePayloadInsertion: Sendable, Equatable {
    case inserted
    /// Inserted; another payload, given in its previous state, was expired to make room.
    case displacedOther(of: SealedPayload)
    case idInUse
    /// The recipient has reached the limit, and no payload was ever read.
    case full
    /// The sender has reached the limit for this recipient, and none of the payloads was ever read.
    case senderIsFull
}
