import ArgumentParser
import Simulators

/// Options for how the simulated APNs treats connections and provider tokens.
struct SimulateAPNsOptions: ParsableArguments {
    @Option(help: "Maximum number of open requests per APNs connection once it is authenticated.")
    var streams: UInt32 = 1000

    @Option(help: "Maximum number before authentication, and after a rejected notification.")
    var firstStreams: UInt32 = 1

    @Flag(inversion: .prefixedNo, help: "Whether a rejected notification lowers the limit to --first-streams until one is accepted.")
    var drop = true

    @Option(help: "APNs environment of the hosts 127.0.0.1 and localhost: production or development.")
    var environment: String = "production"

    @Option(help: "Number of different provider tokens that APNs accepts from a team within 20 minutes.")
    var tokenUpdates: Int = 3

    @Flag(
        help: "Also reject provider tokens with an ASN.1 DER signature (RFC 7518), or an iat that is a fraction or a string.")
    var strict = false

    func validate() throws {
        guard (1...1_000_000).contains(tokenUpdates) else {
            throw ValidationError("--token-updates \(tokenUpdates): expected a number from 1 to 1000000")
        }
        guard [streams, firstStreams].allSatisfy({ (1...1_000_000).contains($0) }) else {
            throw ValidationError("--streams, --first-streams: expected numbers from 1 to 1000000")
        }
        guard APNsEnvironment(rawValue: environment) != nil else {
            throw ValidationError("--environment \(environment): expected production or development")
        }
    }

    /// The rules for provider tokens.
    var tokenRules: APNsTokenRules { APNsTokenRules(updatesPerTwentyMinutes: tokenUpdates, isStrict: strict) }

    var settings: APNsHTTP2Settings {
        var settings = APNsHTTP2Settings()
        settings.streams = streams
        settings.firstStreams = min(firstStreams, streams)
        settings.dropsAfterRejection = drop
        settings.environment = APNsEnvironment(rawValue: environment) ?? .production
        return settings
    }
}
