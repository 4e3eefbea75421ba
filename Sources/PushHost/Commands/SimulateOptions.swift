import ArgumentParser

/// What `pushhost simulate` takes with any service.
struct SimulateOptions: ParsableArguments {
    @Option(
        help: "Keep in this folder what is to stay: the keys, the certificate of TLS; without HTTP/2 the ledger.", completion: .directory)
    var data: String?

    @Option(help: "Append a JSON line to this file for every notification.", completion: .file())
    var ledger: String?

    @Flag(help: "Make a phone of every handle of the right shape that is pushed to.")
    var adopt = false
}
