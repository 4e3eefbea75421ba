import ArgumentParser
import Glibc

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Serve the simulated push services on this machine, for any program that sends.",
        discussion: """
            APNs, FCM, WNS and a Web Push service listen on one port, told apart by the Host of a request. A control plane \
            on the same port adds phones and shows what they got. pushhost simulate apns serves APNs as Apple does, over \
            HTTP/2 and TLS.

            Exit codes: 0 ended by Ctrl-C or SIGTERM · 1 the ledger could not be written any more · 2 usage, the port is \
            taken, or a file cannot be used.
            """,
        subcommands: [SimulateAPNsCommand.self])

    @Option(help: "The port on 127.0.0.1; 0 takes a free one.")
    var port: UInt16 = 8090

    @OptionGroup
    var options: SimulateOptions

    func run() async {
        Glibc.exit(await SimulateSession(options: options, port: port).run(Interruption()))
    }
}
