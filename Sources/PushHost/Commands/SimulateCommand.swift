import ArgumentParser
import Glibc

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Serve the simulated push services on this machine, for any program that sends.",
        discussion: """
            APNs, FCM, WNS and a Web Push service listen on one port, told apart by the Host of a request. A control plane \
            on the same port adds phones and shows what they got.

            Exit codes: 0 ended by Ctrl-C or SIGTERM · 1 the ledger could not be written any more · 2 usage, the port is \
            taken, or a file cannot be used.
            """)

    @Option(help: "The port on 127.0.0.1; 0 takes a free one.")
    var port: UInt16 = 8090

    @Option(help: "Keep the keys in this folder, and the ledger.", completion: .directory)
    var data: String?

    @Option(help: "Append a JSON line to this file for every notification.", completion: .file())
    var ledger: String?

    @Flag(help: "Make a phone of every handle of the right shape that is pushed to.")
    var adopt = false

    func run() async {
        Glibc.exit(await SimulateSession(command: self).run(Interruption()))
    }
}
