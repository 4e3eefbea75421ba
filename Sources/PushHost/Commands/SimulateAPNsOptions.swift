import ArgumentParser
import Simulators

/// How APNs treats connections and provider tokens.
struct SimulateAPNsOptions: ParsableArguments {
    @Option(help: "How many requests a client of APNs may have open once it has proven who it is.")
    var streams: UInt32 = 1000

    @Option(help: "How many before that, and after a rejected notification.")
    var firstStreams: UInt32 = 1

    @Flag(inversion: .prefixedNo, help: "Whether a rejected notification takes the streams away until one is accepted.")
    var drop = true

    @Option(help: "The environment that 127.0.0.1 and localhost stand for as hosts of APNs: production or development.")
    var environment: String = "production"

    @Option(help: "Number of different provider tokens that APNs accepts from a team within 20 minutes.")
    var tokenUpdates: Int = 3

    @Flag(
        help: "Refuse provider tokens beyond Apple's page and RFC 7518: an ASN.1 DER signature, an iat with a fraction or as a text.")
    var strict = false

    func validate() throws {
        guard (1...1_000_000).contains(tokenUpdates) else {
            throw ValidationError("--token-updates \(tokenUpdates): it is a number from 1 to 1000000")
        }
        guard [streams, firstStreams].allSatisfy({ (1...1_000_000).contains($0) }) else {
            throw ValidationError("numbers of streams are from 1 to 1000000")
        }
        guard APNsEnvironment(rawValue: environment) != nil else {
            throw ValidationError("--environment \(environment): it is production or development")
        }
    }

    /// What is asked of provider tokens.
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
