import ArgumentParser
import Simulators

/// Options for how the simulated APNs treats connections and provider tokens.
struct SimulateAPNsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Maximum number of open requests per APNs connection once it is authenticated.", valueName: "count"))
    var streams: UInt32 = 1000

    @Option(
        help: ArgumentHelp(
            "Maximum number of open requests per APNs connection before it is authenticated, and after a rejected notification.",
            valueName: "count"))
    var firstStreams: UInt32 = 1

    @Flag(inversion: .prefixedNo, help: "Lower the stream limit to --first-streams after a rejected notification, until one is accepted.")
    var drop = true

    @Option(help: ArgumentHelp("APNs environment of the hosts 127.0.0.1 and localhost.", valueName: "name"))
    var environment: APNsEnvironment = .production

    @Option(help: ArgumentHelp("Number of different provider tokens that APNs accepts from a team within 20 minutes.", valueName: "count"))
    var tokenUpdates: Int = 3

    @Flag(
        help: "Also reject provider tokens with an ASN.1 DER signature (RFC 7518), or an iat that is a fraction or a string.")
    var strict = false

    func validate() throws {
        guard (1...1_000_000).contains(tokenUpdates) else {
            throw ValidationError.invalidValue("--token-updates", tokenUpdates, expected: "a whole number from 1 to 1000000")
        }
        for (option, value) in [("--streams", streams), ("--first-streams", firstStreams)] where !(1...1_000_000).contains(value) {
            throw ValidationError.invalidValue(option, value, expected: "a whole number from 1 to 1000000")
        }
    }

    /// The rules for provider tokens.
    var tokenRules: APNsTokenRules { APNsTokenRules(updatesPerTwentyMinutes: tokenUpdates, isStrict: strict) }

    var settings: APNsHTTP2Settings {
        var settings = APNsHTTP2Settings()
        settings.streams = streams
        settings.firstStreams = min(firstStreams, streams)
        settings.dropsAfterRejection = drop
        settings.environment = environment
        return settings
    }
}
