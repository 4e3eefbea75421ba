import ArgumentParser
import Glibc

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Serve the simulated push services on this machine, for any program that sends.",
        discussion: """
            pushhost simulate serves them all on one port, as pushhost simulate all does, whose options it takes; pushhost \
            simulate apns serves APNs as Apple does, over HTTP/2 and TLS.

            Exit codes: 0 ended by Ctrl-C or SIGTERM · 1 the ledger could not be written any more · 2 usage, the port is \
            taken, or a file cannot be used.
            """,
        // Options of its own would take those of the same name from its subcommands.
        subcommands: [SimulateAllCommand.self, SimulateAPNsCommand.self], defaultSubcommand: SimulateAllCommand.self)
}

struct SimulateAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all",
        abstract: "Serve APNs, FCM, WNS and a Web Push service over HTTP/1.1, told apart by the Host of a request.",
        discussion: """
            A control plane on the same port adds phones and shows what they got.

            Exit codes: as of pushhost simulate.
            """)

    @Option(help: "The port on 127.0.0.1; 0 takes a free one.")
    var port: UInt16 = 8090

    @OptionGroup
    var options: SimulateOptions

    func run() async {
        Glibc.exit(await SimulateSession(options: options, port: port).run(Interruption()))
    }
}
