/// The reason why a device has its outcome. Text is made from it where it is shown, so that traces and stores never compare text.
package enum OutcomeCause: Sendable, Hashable {
    /// The push service accepted the push.
    case accepted
    /// Another registration with the same handle gets the push.
    case duplicate
    /// The registration was removed before its batch was due.
    case removedEarly
    /// The delivery was cancelled.
    case cancelled
    /// The push was sent and not answered.
    case unanswered
    /// A hook decided. Indirect, so that results of other devices need no room for it.
    indirect case ruled(HookReason)
    /// Text of a connector, a failed hook, another server or an older version. Shown but never matched.
    case text(String)

    /// The cause as text for people: what the outcome means and what to do.
    package var text: String {
        switch self {
        case .accepted: "accepted by the push service"
        case .duplicate: "another registration with the same handle received it"
        case .removedEarly: "the registration was removed before it was sent to"
        case .cancelled: "the delivery was cancelled"
        case .unanswered: "it is unknown whether it was delivered"
        case .ruled(let reason): reason.text
        case .text(let text): text
        }
    }
}
