import FoundationEssentials
import HTTPTypes
import HubWire
import PushModel

/// The credentials of a request to the app backend.
enum BackendCredentials: Sendable {
    case basic(username: String, password: Secret)
    /// A session token or a token of the issuer.
    case bearer(String)

    /// Nil if the header is missing or cannot be parsed.
    /// - Parameter authorization: The header's value.
    init?(_ authorization: String?) {
        guard let text = authorization?.trimmed, let blank = text.firstIndex(of: " ") else { return nil }
        let value = text[blank...].trimmed
        switch text[..<blank].lowercased() {
        case "basic":
            guard let (username, password) = Self.basic(value) else { return nil }
            self = .basic(username: username, password: Secret(password))
        case "bearer":
            guard !value.isEmpty else { return nil }
            self = .bearer(value)
        default: return nil
        }
    }

    /// Decodes name and password (RFC 7617): everything after the first colon is the password. Some clients break the base64 into lines.
    private static func basic(_ value: String) -> (String, String)? {
        var text = value.filter { !$0.isWhitespace }
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        guard let data = Data(base64Encoded: text), let pair = String(validating: data, as: UTF8.self),
            let colon = pair.unicodeScalars.firstIndex(of: ":")
        else { return nil }
        let scalars = pair.unicodeScalars
        return (String(scalars[..<colon]), String(scalars[scalars.index(after: colon)...]))
    }
}
