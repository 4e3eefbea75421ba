import ArgumentParser
import Glibc
import Simulators

struct SimulateAPNsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "Serve the simulated APNs alone, as strict with connections as Apple's.",
        discussion: """
            HTTP/2 over TLS. Both environments listen on one port, told apart by the host of a request. A second port has the \
            control plane, and the other services over plain HTTP/1.1.

            Exit codes: as of pushhost simulate.
            """)

    @OptionGroup
    var options: SimulateOptions

    @OptionGroup(title: "Connections")
    var apns: SimulateAPNsOptions

    @Option(help: "How many phones have an inbox; iPhones that are adopted beyond them are only counted.")
    var inboxes: Int = 1000

    func validate() throws {
        guard (0...100_000).contains(inboxes) else {
            throw ValidationError("--inboxes \(inboxes): it is a number from 0 to 100000")
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
