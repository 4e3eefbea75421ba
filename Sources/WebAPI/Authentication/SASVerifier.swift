import HubWire
import PushCore

/// Finds out on whose behalf a request comes.
package struct SASVerifier: Sendable {
    /// The rule of that name, of the hub that the request is for or of all hubs.
    private let rule: @Sendable (String) -> AuthorizationRule?
    private let proved: ProvedTokens

    package init(proved: ProvedTokens, rule: @escaping @Sendable (String) -> AuthorizationRule?) {
        self.proved = proved
        self.rule = rule
    }

    /// The member of a refusal's details with the name of the rule that lacks the right.
    static let rule = "rule"

    /// The rule whose key signed the request.
    /// - Parameters:
    ///   - authorization: the header's value as it came.
    ///   - host: of the request, with or without a port.
    ///   - path: of the request, still encoded, without the query.
    ///   - publicURL: what clients know the server by, where that is another address than the host of their requests.
    /// Throws `sas.missing`, `sas.malformed`, `sas.expired`, `sas.signature`, `sas.audience` (401) and `sas.forbidden` (403, or 401
    /// where the right to manage is missing, as clients know it).
    package func verify(
        authorization: String?, host: String, path: String, publicURL: String? = nil, right: AuthorizationRule.Right, now: Timestamp
    ) throws(PushError) -> AuthorizationRule {
        let (rule, proof) = try prove(authorization)
        guard let expiration = proof.token.expiration, now <= expiration + SASToken.clockSkew else {
            throw SASRefusal.expired.error("ExpiredToken: The token has expired")
        }
        guard let place = proof.place, Self.covers(place, host: host, path: path, publicURL: publicURL) else {
            throw SASRefusal.audience.error("InvalidAudience: The token is for another resource")
        }
        guard rule.allows(right) else {
            var error = SASRefusal.forbidden.error("\(right.rawValue) claim is required for this operation")
            if right == .manage { error.status = 401 }
            // Whose signature is good is known.
            error.details[Self.rule] = .string(rule.name)
            throw error
        }
        return rule
    }

    /// The rule that a token names, and the key of it that signed the token.
    private func prove(_ authorization: String?) throws(PushError) -> (AuthorizationRule, ProvedTokens.Proof) {
        if let authorization, let proof = proved.proof(authorization), let rule = rule(proof.token.keyName),
            proof.key == rule.primaryKey || proof.key == rule.secondaryKey
        {
            return (rule, proof)
        }
        let token = try SASToken(authorization: authorization)
        let named = rule(token.keyName)
        // An unknown name and a wrong key are one answer after the same work, so that answers do not show which names there are.
        let matches = Self.candidates(of: named).filter { token.isSigned(by: $0) }
        guard let rule = named, let key = matches.first else {
            throw SASRefusal.signature.error("InvalidSignature: The token has an invalid signature")
        }
        let proof = ProvedTokens.Proof(token: token, place: SASPlace(PercentEncoding.decodeForm(token.resource)), key: key)
        if let authorization { proved.add(proof, authorization) }
        return (rule, proof)
    }

    /// The keys to try: both of a rule, or as many of no rule for an unknown name. A token that is signed with those is refused as well.
    static func candidates(of rule: AuthorizationRule?) -> [Secret] {
        guard let rule else { return [absent, absent] }
        return [rule.primaryKey, rule.secondaryKey]
    }

    /// As long as a key that the server makes.
    private static let absent = Secret(String(repeating: "A", count: 44))

    /// Whether a signed resource is the host of a request and its path or one above it, or the same below the public address. Scheme,
    /// port, query, the slash at the end and the case do not matter.
    static func covers(_ signed: SASPlace, host: String, path: String, publicURL: String? = nil) -> Bool {
        let asked = SASPlace(authority: host, path: path)
        if signed.covers(asked) { return true }
        guard let publicURL, let base = SASPlace(publicURL) else { return false }
        // A proxy may take the path of the public address away, or leave it.
        return [asked.parts, base.parts + asked.parts].contains { signed.covers(SASPlace(host: base.host, parts: $0)) }
    }
}
