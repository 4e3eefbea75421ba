import ArgumentParser
import Simulators

/// How APNs treats connections.
struct SimulateAPNsOptions: ParsableArguments {
    @Option(help: "How many requests a client of APNs may have open once it has proven who it is.")
    var streams: UInt32 = 1000

    @Option(help: "How many before that, and after a rejected notification.")
    var firstStreams: UInt32 = 1

    @Flag(inversion: .prefixedNo, help: "Whether a rejected notification takes the streams away until one is accepted.")
    var drop = true

    @Option(help: "The environment that 127.0.0.1 and localhost stand for as hosts of APNs: production or development.")
    var environment: String = "production"

    func validate() throws {
        guard [streams, firstStreams].allSatisfy({ (1...1_000_000).contains($0) }) else {
            throw ValidationError("numbers of streams are from 1 to 1000000")
        }
        guard APNsEnvironment(rawValue: environment) != nil else {
            throw ValidationError("--environment \(environment): it is production or development")
        }
    }

    var settings: APNsHTTP2Settings {
        var settings = APNsHTTP2Settings()
        settings.streams = streams
        settings.firstStreams = min(firstStreams, streams)
        settings.dropsAfterRejection = drop
        settings.environment = APNsEnvironment(rawValue: environment) ?? .production
        return settings
    }
}
