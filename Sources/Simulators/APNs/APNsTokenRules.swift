/// What the simulated APNs asks of provider tokens beyond a good signature and their age.
package struct APNsTokenRules: Sendable, Equatable {
    /// Different tokens of a team that are accepted within 20 minutes; the next one is `TooManyProviderTokenUpdates`.
    package var updatesPerTwentyMinutes: Int
    /// Whether forms that Apple's page and RFC 7518 do not describe are `InvalidProviderToken`: an ASN.1 DER signature, an `iat` with a
    /// fraction or as a text.
    package var isStrict: Bool

    package init(updatesPerTwentyMinutes: Int = 3, isStrict: Bool = false) {
        (self.updatesPerTwentyMinutes, self.isStrict) = (updatesPerTwentyMinutes, isStrict)
    }
}
