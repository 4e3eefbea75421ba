package import PushModel

/// Reasons to reject a shared access signature, with Azure's numbers.
package enum SASError: Int, Sendable {
    /// A valid token whose rule lacks the required right.
    case forbidden = 40100
    case missing = 40102
    case signature = 40103
    case audience = 40104
    case malformed = 40105
    case expired = 40106

    /// The error: 401, or 403 if the rule lacks the right. `details.subcode` contains the number.
    package func error(_ message: String) -> PushError {
        let details: [String: JSON] = ["subcode": .integer(Int64(rawValue))]
        return switch self {
        case .forbidden:
            PushError("sas.forbidden", message, hint: "use a key with the right", status: 403, details: details)
        case .missing:
            PushError("sas.missing", message, hint: "sign it with the key of the connection string", status: 401, details: details)
        case .signature:
            PushError(
                "sas.signature", message, hint: "check name and key of the connection string", status: 401, details: details)
        case .audience:
            PushError("sas.audience", message, hint: "sign the address of the hub", status: 401, details: details)
        case .malformed:
            PushError(
                "sas.malformed", message, hint: "write SharedAccessSignature sr=…&sig=…&se=…&skn=…", status: 401, details: details)
        case .expired:
            PushError(
                "sas.expired", message, hint: "sign a new token; check the clock of the client", status: 401, details: details)
        }
    }
}
