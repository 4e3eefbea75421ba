import HubWire
import PushCore

/// `If-Match` of a request that writes a registration.
package enum RegistrationCondition: Sendable, Equatable {
    /// No header: writes in any case.
    case none
    /// `*`: there must be one, whatever its version.
    case exists
    case version(Int)

    /// Reads `"1"`, `W/"1"`, `1` and `*`, with blanks around it. Throws `hub.precondition_failed` (412) for anything else, because
    /// no version is called so.
    package init(ifMatch: String?) throws(PushError) {
        guard var text = ifMatch?.trimmed, !text.isEmpty else {
            self = .none
            return
        }
        if text.hasPrefix("W/") || text.hasPrefix("w/") { text.removeFirst(2) }
        if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = String(text.dropFirst().dropLast()) }
        if text == "*" {
            self = .exists
        } else if let version = Int(text), version >= 0 {
            self = .version(version)
        } else {
            throw PushError(
                "hub.precondition_failed", "If-Match is \"\(text)\", which is no version of a registration",
                hint: "send the ETag that the hub answered, or *", status: 412)
        }
    }
}
