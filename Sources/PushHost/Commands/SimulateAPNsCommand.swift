import ArgumentParser
import Glibc
import PushCore
import Simulators

struct SimulateAPNsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "Serve the simulated APNs over HTTP/2 and TLS, as strict with connections as Apple's.",
        discussion: """
            Both environments listen on one port, told apart by the host of a request. A second port is that of pushhost \
            simulate: the other services, and the control plane.

            Exit codes: as of pushhost simulate.
            """)

    @Option(help: "The port for HTTP/2 on 127.0.0.1; 0 takes a free one.")
    var port: UInt16 = 8443

    @Option(help: "The port of the control plane and of the other services; 0 takes a free one.")
    var controlPort: UInt16 = 8090

    @OptionGroup
    var options: SimulateOptions

    @Option(help: "How many requests a client may have open once it has proven who it is.")
    var streams: UInt32 = 1000

    @Option(help: "How many before that, and after a rejected notification.")
    var firstStreams: UInt32 = 1

    @Flag(inversion: .prefixedNo, help: "Whether a rejected notification takes the streams away until one is accepted.")
    var drop = true

    @Option(help: "The environment that 127.0.0.1 and localhost stand for as hosts: production or development.")
    var environment: String = "production"

    @Option(help: "How many phones have an inbox; iPhones that are adopted beyond them are only counted.")
    var inboxes: Int = 1000

    @Option(help: "Refuse with this reason what would be accepted, or a share of it: ServiceUnavailable=1%. May be given again.")
    var fail: [String] = []

    @Option(help: "Name this many seconds in the answers of --fail.")
    var retryAfter: Int?

    @Option(help: "How much longer every request takes, such as 20ms.", transform: Budgets.duration)
    var latency: Duration?

    @Option(help: "Break a connection off instead of answering, every so many requests.")
    var resetEvery: Int?

    @Option(help: "Break one of so many connections off at its first request.")
    var resetConnectionsEvery: Int?

    @Option(help: "Say GOAWAY every so many requests.")
    var goawayEvery: Int?

    @Option(help: "Never answer one of so many requests.")
    var stallEvery: Int?

    @Option(help: "What lots are drawn with, for the shares of --fail.")
    var seed: UInt64 = 1

    @Option(help: "How many threads share the connections.")
    var threads: Int = 1

    func validate() throws {
        let counts = [resetEvery, resetConnectionsEvery, goawayEvery, stallEvery, retryAfter, Int(streams), Int(firstStreams)]
        guard counts.allSatisfy({ $0.map { (1...1_000_000).contains($0) } ?? true }), (0...100_000).contains(inboxes) else {
            throw ValidationError("numbers of requests, streams and seconds are from 1 to 1000000, inboxes from 0 to 100000")
        }
        guard (1...256).contains(threads) else { throw ValidationError("--threads \(threads): it is a number from 1 to 256") }
        guard APNsEnvironment(rawValue: environment) != nil else {
            throw ValidationError("--environment \(environment): it is production or development")
        }
        for text in fail { _ = try Self.refusal(text) }
    }

    /// `Shutdown` or `Shutdown=1%` as reason and share.
    static func refusal(_ text: String) throws -> (reason: String, share: Double) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return (text, 1) }
        let isPercentage = parts[1].hasSuffix("%")
        guard let number = Double(isPercentage ? parts[1].dropLast() : parts[1]),
            case let share = isPercentage ? number / 100 : number, share > 0, share <= 1
        else { throw ValidationError("--fail \(text): the share is a number above 0 and up to 1, or a percentage such as 1%") }
        return (String(parts[0]), share)
    }

    func run() async throws {
        let plan = SimulatedAPNsPlan(
            port: port, settings: settings, inboxes: inboxes, refusals: try fail.map { try Self.refusal($0) }, retryAfter: retryAfter,
            connections: connections, seed: seed, threads: threads)
        Glibc.exit(await SimulateSession(options: options, port: controlPort, apns: plan).run(Interruption()))
    }

    private var settings: APNsHTTP2Settings {
        var settings = APNsHTTP2Settings()
        settings.streams = streams
        settings.firstStreams = min(firstStreams, streams)
        settings.dropsAfterRejection = drop
        settings.environment = APNsEnvironment(rawValue: environment) ?? .production
        return settings
    }

    private var connections: ConnectionFaults.Plan {
        var plan = ConnectionFaults.Plan()
        plan.latency = latency.map { Int($0 / .milliseconds(1)) } ?? 0
        plan.resetEvery = resetEvery
        plan.resetConnectionsEvery = resetConnectionsEvery
        plan.goAwayEvery = goawayEvery
        plan.stallEvery = stallEvery
        return plan
    }
}

/// What `pushhost simulate apns` was asked for beyond what every simulator has.
struct SimulatedAPNsPlan: Sendable {
    var port: UInt16
    var settings: APNsHTTP2Settings
    var inboxes: Int
    var refusals: [(reason: String, share: Double)]
    var retryAfter: Int?
    var connections: ConnectionFaults.Plan
    var seed: UInt64
    var threads: Int

    /// Orders the faults. Throws `usage.argument` for a reason that APNs does not have.
    func prepare(_ server: SimulatorServer) throws(PushError) {
        for (reason, share) in refusals {
            guard server[.apns].fail(reason, count: nil, share: share, retryAfter: retryAfter) else {
                throw PushError(
                    "usage.argument", "--fail \(reason): APNs does not refuse with that",
                    hint: "it says \(server[.apns].reasons.joined(separator: ", "))")
            }
        }
        let connections = connections
        server.connections.change { $0 = connections }
    }
}
