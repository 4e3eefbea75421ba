import HubWire
package import PushModel

/// The `If-Match` condition of a request that writes a registration.
package enum RegistrationCondition: Sendable, Equatable {
    /// No header: write unconditionally.
    case none
    /// `*`: the registration must exist, in any version.
    case exists
    case version(Int)

    /// Parses `"1"`, `W/"1"`, `1` and `*`, with surrounding whitespace. Throws `hub.precondition_failed` (412) for other text, which
    /// matches no version.
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
                "hub.precondition_failed", "invalid If-Match \"\(text)\": not a version of a registration",
                hint: "send the ETag that the hub returned, or *", status: 412)
        }
    }
}
