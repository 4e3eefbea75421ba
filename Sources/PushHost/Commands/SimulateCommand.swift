import ArgumentParser
import Glibc
import Simulators

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Serve the simulated push services on this machine, for any program that sends.",
        discussion: """
            pushhost simulate serves all of them, as pushhost simulate all does, whose options it takes; the others serve one alone.

            Exit codes: 0 ended by Ctrl-C or SIGTERM · 1 the ledger could not be written any more · 2 usage, a port is \
            taken, or a file cannot be used.
            """,
        // Options of its own would take those of the same name from its subcommands.
        subcommands: [
            SimulateAllCommand.self, SimulateAPNsCommand.self, SimulateFCMCommand.self, SimulateWNSCommand.self,
            SimulateWebPushCommand.self,
        ],
        defaultSubcommand: SimulateAllCommand.self)
}

struct SimulateAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all",
        abstract: "Serve APNs, FCM, WNS and a Web Push service on one port.",
        discussion: """
            HTTP/2 and HTTP/1.1 over TLS, told apart by the host of a request, or by its path where that is this machine. A \
            second port has the control plane, which adds phones and shows what they got, and all services over plain \
            HTTP/1.1, told apart by Host; --port none leaves it at that one.

            Exit codes: as of pushhost simulate.
            """)

    @OptionGroup
    var options: SimulateOptions

    @OptionGroup(title: "Connections")
    var apns: SimulateAPNsOptions

    func run() async throws {
        var plan = try SimulatePlan(options, serving: Set(PhonePlatform.allCases))
        plan.selection.apns = apns.settings
        plan.tokenRules = apns.tokenRules
        Glibc.exit(await SimulateSession(options: options, plan: plan).run(Interruption()))
    }
}

struct SimulateFCMCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fcm",
        abstract: "Serve the simulated FCM alone, with the token endpoint of Google.",
        discussion: """
            HTTP/2 and HTTP/1.1 over TLS. A second port has the control plane, and the other services over plain HTTP/1.1.

            Exit codes: as of pushhost simulate.
            """)

    @OptionGroup
    var options: SimulateOptions

    func run() async throws {
        try await options.serve(.fcm)
    }
}

struct SimulateWNSCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wns",
        abstract: "Serve the simulated WNS alone, with the token endpoint of Microsoft.",
        discussion: """
            HTTP/1.1 over TLS. A second port has the control plane, and the other services over plain HTTP/1.1.

            Exit codes: as of pushhost simulate.
            """)

    @OptionGroup
    var options: SimulateOptions

    func run() async throws {
        try await options.serve(.wns)
    }
}

struct SimulateWebPushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webpush",
        abstract: "Serve the simulated Web Push service alone, whose browsers decrypt what they get.",
        discussion: """
            HTTP/2 and HTTP/1.1 over TLS. A second port has the control plane, and the other services over plain HTTP/1.1.

            Exit codes: as of pushhost simulate.
            """)

    @OptionGroup
    var options: SimulateOptions

    func run() async throws {
        try await options.serve(.browser)
    }
}

extension SimulateOptions {
    /// Serves one service alone, to the end of the program.
    fileprivate func serve(_ service: PhonePlatform) async throws {
        let plan = try SimulatePlan(self, serving: [service])
        Glibc.exit(await SimulateSession(options: self, plan: plan).run(Interruption()))
    }
}
