/// The rules of the simulated APNs for provider tokens, besides signature and age.
package struct APNsTokenRules: Sendable, Equatable {
    /// Number of different tokens per team accepted within 20 minutes; then `TooManyProviderTokenUpdates`.
    package var updatesPerTwentyMinutes: Int
    /// Whether formats outside of Apple's page and RFC 7518 are rejected as `InvalidProviderToken`: an ASN.1 DER signature, an `iat` with a
    /// fraction or as a string.
    package var isStrict: Bool

    package init(updatesPerTwentyMinutes: Int = 3, isStrict: Bool = false) {
        (self.updatesPerTwentyMinutes, self.isStrict) = (updatesPerTwentyMinutes, isStrict)
    }
}
