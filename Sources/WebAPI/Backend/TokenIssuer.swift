import FoundationEssentials
import JWTKit
import PushModel

/// An issuer of tokens that identify users (RFC 7519), verified with keys that the server fetches.
package struct TokenIssuer: Sendable {
    /// The user and the expiry of a token.
    struct Claims: Sendable, Equatable {
        let username: String
        let end: Timestamp
    }

    let name: String
    let audience: String
    let usernameClaim: String
    /// Maximum clock difference.
    let clockSkew: Duration
    let keys: IssuerKeys

    private static let maximumTokenSize = 16 << 10

    /// - Parameters:
    ///   - name: The value of `iss`.
    ///   - audience: The value of `aud`, or one of its values.
    ///   - usernameClaim: The claim that contains the user name.
    package init(
        name: String, audience: String, usernameClaim: String = "sub", clockSkew: Duration = .seconds(60), keys: IssuerKeys
    ) {
        (self.name, self.audience, self.usernameClaim) = (name, audience, usernameClaim)
        (self.clockSkew, self.keys) = (clockSkew, keys)
    }

    /// Throws `auth.token` (401) for an invalid token, `auth.issuer` (503) if the issuer's keys are not available.
    func verified(_ token: String, now: Timestamp) async throws(PushError) -> Claims {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, token.utf8.count <= Self.maximumTokenSize, let header = Self.object(parts[0]) else {
            throw Self.refusal("it is not a JSON Web Token")
        }
        // Without this list a token could ask for no check, or for a check with the public key as an HMAC secret.
        guard let word = header["alg"]?.string, let algorithm = IssuerKey.Algorithm(rawValue: word) else {
            throw Self.refusal("its algorithm is not one of \(IssuerKey.Algorithm.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard header["crit"] == nil else { throw Self.refusal("it has a critical header (crit), which is not supported") }
        let found = try await keys.keys(for: algorithm, id: header["kid"]?.string)
        guard !found.isEmpty else { throw Self.refusal("the issuer has no matching key for \(algorithm.rawValue)") }
        var isSigned = false
        for key in found where !isSigned { isSigned = await key.hasSigned(token, algorithm) }
        guard isSigned, let claims = Self.object(parts[1]) else { throw Self.refusal("its signature is invalid") }
        return try checked(claims, now: now)
    }

    private func checked(_ claims: JSON, now: Timestamp) throws(PushError) -> Claims {
        guard claims["iss"]?.string == name else { throw Self.refusal("it is from another issuer") }
        let audiences = claims["aud"]?.array?.compactMap(\.string) ?? [claims["aud"]?.string].compactMap { $0 }
        guard audiences.contains(audience) else { throw Self.refusal("it is for another audience") }
        guard let expiry = claims["exp"].flatMap(Self.time) else { throw Self.refusal("it has no expiry time (exp)") }
        let end = expiry + clockSkew
        guard now < end else { throw Self.refusal("it has expired") }
        if let claim = claims["nbf"] {
            guard let start = Self.time(claim), start <= now + clockSkew else { throw Self.refusal("it is not valid yet") }
        }
        guard let username = claims[usernameClaim]?.string, !username.isEmpty else {
            throw Self.refusal("its claim \(usernameClaim) is not a valid user name")
        }
        return Claims(username: username, end: end)
    }

    /// A number of seconds since 1970, possibly with a fraction.
    private static func time(_ json: JSON) -> Timestamp? {
        guard let seconds = json.double, abs(seconds) < 1e12 else { return nil }
        return Timestamp(milliseconds: Int64(seconds * 1000))
    }

    private static func object(_ part: Substring) -> JSON? {
        guard let bytes = IssuerKey.base64URL(String(part)), let json = try? JSON(parsing: bytes, duplicateKeys: .refused),
            json.object != nil
        else { return nil }
        return json
    }

    static func refusal(_ why: String) -> PushError {
        PushError("auth.token", "invalid token: \(why)", hint: "get a new one from its issuer", status: 401)
    }
}

/// A public key of an issuer (RFC 7517).
struct IssuerKey: Sendable {
    enum Algorithm: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case rs384 = "RS384"
        case rs512 = "RS512"
        case ps256 = "PS256"
        case ps384 = "PS384"
        case ps512 = "PS512"
        case es256 = "ES256"
        case es384 = "ES384"
        case es512 = "ES512"
        case edDSA = "EdDSA"
    }

    enum Material: Sendable {
        case rsa(modulus: String, exponent: String)
        case elliptic(curve: String, x: String, y: String)
        case edwards(x: String)
    }

    let id: String?
    /// The only algorithm of the key; nil: any that its type supports.
    let algorithm: Algorithm?
    let material: Material

    /// Nil for a key that is not for signatures, has an unsupported type, or is too weak.
    init?(_ json: JSON) {
        guard json["use"]?.string ?? "sig" == "sig", json["key_ops"]?.array?.contains("verify") ?? true else { return nil }
        id = json["kid"]?.string
        if let word = json["alg"]?.string {
            guard let algorithm = Algorithm(rawValue: word) else { return nil }
            self.algorithm = algorithm
        } else {
            algorithm = nil
        }
        switch json["kty"]?.string {
        case "RSA":
            guard let modulus = json["n"]?.string, let exponent = json["e"]?.string,
                let bytes = Self.base64URL(modulus), bytes.drop(while: { $0 == 0 }).count >= 256
            else { return nil }
            material = .rsa(modulus: modulus, exponent: exponent)
        case "EC":
            guard let curve = json["crv"]?.string, let x = json["x"]?.string, let y = json["y"]?.string else { return nil }
            material = .elliptic(curve: curve, x: x, y: y)
        case "OKP":
            guard json["crv"] == "Ed25519", let x = json["x"]?.string else { return nil }
            material = .edwards(x: x)
        default: return nil
        }
    }

    func fits(_ asked: Algorithm) -> Bool {
        guard algorithm ?? asked == asked else { return false }
        switch (material, asked) {
        case (.rsa, .rs256), (.rsa, .rs384), (.rsa, .rs512), (.rsa, .ps256), (.rsa, .ps384), (.rsa, .ps512): return true
        case (.elliptic(let curve, _, _), .es256): return curve == "P-256"
        case (.elliptic(let curve, _, _), .es384): return curve == "P-384"
        case (.elliptic(let curve, _, _), .es512): return curve == "P-521"
        case (.edwards, .edDSA): return true
        default: return false
        }
    }

    /// Whether the key signed a token. - Parameter algorithm: One that fits the key.
    func hasSigned(_ token: String, _ algorithm: Algorithm) async -> Bool {
        guard let key = key(algorithm) else { return false }
        // The collection contains this key only, so the token cannot select another.
        let collection = JWTKeyCollection()
        do {
            try await collection.add(jwk: key, isDefault: true)
            _ = try await collection.verify(token, as: Signed.self)
            return true
        } catch {
            return false
        }
    }

    private func key(_ algorithm: Algorithm) -> JWK? {
        guard let name = JWK.Algorithm(rawValue: algorithm.rawValue) else { return nil }
        let id = JWKIdentifier(string: "key")
        return switch material {
        case .rsa(let modulus, let exponent): .rsa(name, identifier: id, modulus: modulus, exponent: exponent)
        case .elliptic(let curve, let x, let y):
            .ecdsa(name, identifier: id, x: x, y: y, curve: ECDSACurve(rawValue: curve))
        case .edwards(let x): .octetKeyPair(name, identifier: id, x: x, y: nil, curve: .ed25519)
        }
    }

    /// Decodes base64url without padding (RFC 7515, section 2).
    static func base64URL(_ text: String) -> [UInt8]? {
        var text = text.replacing("-", with: "+").replacing("_", with: "/")
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        return Data(base64Encoded: text).map(Array.init)
    }
}

/// A payload without checks: the claims are checked by ``TokenIssuer``.
private struct Signed: JWTPayload {
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}
