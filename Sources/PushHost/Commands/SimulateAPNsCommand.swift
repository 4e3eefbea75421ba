import ArgumentParser
import Glibc
import Simulators

struct SimulateAPNsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "Serve the simulated APNs over TLS, with Apple's connection limits.",
        discussion: """
            Uses HTTP/2. Both environments share a port; a request's host selects one. A second port serves the control plane, \
            and the other services over plain HTTP/1.1.

            Example: pushhost simulate apns --port 8091 --adopt

            Exit codes: see pushhost simulate.
            """)

    @OptionGroup
    var options: SimulateOptions

    @OptionGroup(title: "Connections")
    var apns: SimulateAPNsOptions

    @Option(help: ArgumentHelp("Number of phones with an inbox; further adopted iPhones are only counted.", valueName: "number"))
    var inboxes: Int = 1000

    func validate() throws {
        guard (0...100_000).contains(inboxes) else {
            throw ValidationError.invalidValue("--inboxes", inboxes, expected: "a whole number from 0 to 100000")
        }
    }

    func run() async throws {
        var plan = try SimulatePlan(options, serving: [.apns])
        plan.selection.apns = apns.settings
        plan.tokenRules = apns.tokenRules
        plan.inboxes = inboxes
        Glibc.exit(await SimulateSession(options: options, plan: plan).run(Interruption()))
    }
}
