import ArgumentParser
import Glibc
import Simulators

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Serve simulated push services on this machine, for any program that sends.",
        discussion: """
            pushhost simulate is short for pushhost simulate all, and accepts its options. The other subcommands serve one service.

            Example: pushhost simulate --adopt --ledger sent.jsonl

            Exit codes: 0 ended by Ctrl-C or SIGTERM · 1 the ledger could not be written · 2 usage, a port in use or an unusable file.
            """,
        // Options on this command would capture those of the same name from its subcommands.
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
            Uses HTTP/2 and HTTP/1.1 over TLS. A request's host selects the service, or its path if the host is this machine. A second \
            port serves the control plane, which adds phones and shows what they received, and all services over plain HTTP/1.1, selected \
            by Host. --port none disables the TLS port.

            Example: pushhost simulate all --port 8091 --control-port 8090

            Exit codes: see pushhost simulate.
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
        abstract: "Serve the simulated FCM over TLS, with Google's token endpoint.",
        discussion: """
            Uses HTTP/2 and HTTP/1.1. A second port serves the control plane, and the other services over plain HTTP/1.1.

            Example: pushhost simulate fcm --port 8091 --adopt

            Exit codes: see pushhost simulate.
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
        abstract: "Serve the simulated WNS over TLS, with Microsoft's token endpoint.",
        discussion: """
            Uses HTTP/1.1. A second port serves the control plane, and the other services over plain HTTP/1.1.

            Example: pushhost simulate wns --port 8091 --adopt

            Exit codes: see pushhost simulate.
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
        abstract: "Serve the simulated Web Push service over TLS; its browsers decrypt what they receive.",
        discussion: """
            Uses HTTP/2 and HTTP/1.1. A second port serves the control plane, and the other services over plain HTTP/1.1.

            Example: pushhost simulate webpush --port 8091 --adopt

            Exit codes: see pushhost simulate.
            """)

    @OptionGroup
    var options: SimulateOptions

    func run() async throws {
        try await options.serve(.browser)
    }
}

extension SimulateOptions {
    /// Serves one service until the program ends.
    fileprivate func serve(_ service: PhonePlatform) async throws {
        let plan = try SimulatePlan(self, serving: [service])
        Glibc.exit(await SimulateSession(options: self, plan: plan).run(Interruption()))
    }
}
