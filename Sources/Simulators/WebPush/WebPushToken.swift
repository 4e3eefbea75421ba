import Crypto
import HTTPTypes

/// A sender's VAPID token, `Authorization: vapid t=<token>, k=<key>` (RFC 8292 section 3).
struct WebPushToken: Sendable {
    /// Maximum lifetime, in seconds (RFC 8292 section 2).
    private static let longestLife: Int64 = 24 * 3600

    /// 65 bytes, uncompressed.
    let publicKey: [UInt8]
    private let token: CompactToken
    private let key: P256.Signing.PublicKey

    /// Returns `nil` if the request has no `Authorization`.
    init?(_ fields: HTTPFields) throws(WebPushRefusal) {
        guard let header = fields.first("authorization") else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "vapid" else {
            throw .badToken("The Authorization header does not have the scheme vapid")
        }
        let parameters = Self.parameters(parts[1])
        guard let publicKey = parameters["k"].flatMap({ Self.keyBytes($0) }), publicKey.count == 65,
            let key = try? P256.Signing.PublicKey(x963Representation: publicKey)
        else { throw .badToken("Missing or invalid VAPID public key") }
        guard let token = parameters["t"].flatMap({ CompactToken(String($0)) }) else {
            throw .badToken("Missing or invalid VAPID token")
        }
        self.publicKey = publicKey
        self.key = key
        self.token = token
    }

    /// The parameters by name in lower case: names are case-insensitive, and values may be quoted (RFC 9110 section 11.2).
    private static func parameters(_ text: Substring) -> [String: Substring] {
        var parameters: [String: Substring] = [:]
        for parameter in text.split(separator: ",") {
            let pair = parameter.split(separator: "=", maxSplits: 1).map(\.trimmedOfBlanks)
            guard pair.count == 2 else { continue }
            let isQuoted = pair[1].count >= 2 && pair[1].first == "\"" && pair[1].last == "\""
            parameters[pair[0].lowercased()] = isQuoted ? pair[1].dropFirst().dropLast() : pair[1]
        }
        return parameters
    }

    /// Decodes a key from base64url. Also accepts standard base64 and padding, which RFC 8292 forbids and autopush accepts.
    private static func keyBytes(_ text: Substring) -> [UInt8]? {
        var digits = text.replacing("+", with: "-").replacing("/", with: "_")[...]
        while digits.last == "=" { digits.removeLast() }
        return Base64URL.bytes(digits)
    }

    /// Checks signature, audience, expiry and contact (RFC 8292 section 2).
    ///
    /// - Parameters:
    ///   - origin: The service's origin, which must be the token's audience.
    ///   - seconds: The current time, in seconds since 1970.
    func check(origin: String, seconds: Int64) throws(WebPushRefusal) {
        guard token.isSigned(by: key) else { throw .badToken("The signature of the VAPID token does not match the key") }
        guard token.claims["aud"]?.string == origin else { throw .badToken("Invalid VAPID audience, not \(origin)") }
        guard let expires = token.claims["exp"]?.integer, expires > seconds else {
            throw .badToken("The VAPID token has expired, or has no exp")
        }
        guard expires - seconds <= Self.longestLife else {
            throw .badToken("The VAPID token expires more than 24 hours from now")
        }
        guard let subject = token.claims["sub"]?.string,
            ["mailto:", "https://"].contains(where: { subject.hasPrefix($0) && subject.count > $0.count })
        else { throw .badToken("The VAPID subject is missing, or is neither a mailto: nor an https: URI") }
    }
}
