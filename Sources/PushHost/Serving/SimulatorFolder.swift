import Glibc
import PushCore
import Simulators

/// Where the simulated services keep their keys from one start to the next.
struct SimulatorFolder {
    let path: String

    var credentialsPath: String { "\(path)/credentials.json" }
    /// What the simulators show to clients of TLS, and may be given to anybody.
    var certificatePath: String { "\(path)/certificate.pem" }
    private var keyPath: String { "\(path)/key.pem" }
    var ledgerPath: String { "\(path)/ledger.jsonl" }

    /// The keys of the folder, which are made, and the folder with them, where there are none. Throws `simulate.data`.
    func credentials(making make: () throws(PushError) -> SimulatorCredentials) throws(PushError) -> SimulatorCredentials {
        if mkdir(path, 0o755) != 0, errno != EEXIST { throw failure("\(path) cannot be made: \(String(cString: strerror(errno)))") }
        let text: [UInt8]
        do {
            text = try TextFile.read(credentialsPath, limit: 1 << 20, kind: "secrets")
        } catch  where error.code == "secrets.not_found" {
            let credentials = try make()
            do {
                try ResultFile.write(Array(credentials.text.utf8) + [0x0a], to: credentialsPath, permissions: 0o600)
            } catch {
                throw failure(error.message)
            }
            return credentials
        } catch {
            throw failure(error.message)
        }
        guard let credentials = SimulatorCredentials(text: text) else {
            throw failure("\(credentialsPath) does not hold the keys of the simulators")
        }
        return credentials
    }

    /// The certificate of the folder, which is made where there is none that will do for a while; one for this start without a
    /// folder. Throws `simulate.data`.
    ///
    /// - Parameter names: Those that it is to have beside those of the services.
    static func identity(
        in folder: SimulatorFolder?, now clock: SimulatorClock, names: [String] = []
    ) throws(PushError) -> ServerIdentity {
        if let known = folder?.identity(now: clock, names) { return known }
        guard let identity = ServerIdentity(now: clock, names: names) else {
            throw PushError("tls.unusable", "the simulators could not make a certificate")
        }
        try folder?.keep(identity)
        return identity
    }

    private func identity(now clock: SimulatorClock, _ names: [String]) -> ServerIdentity? {
        guard let certificate = try? TextFile.read(certificatePath, limit: 1 << 20, kind: "secrets"),
            let key = try? TextFile.read(keyPath, limit: 1 << 20, kind: "secrets")
        else { return nil }
        return ServerIdentity(
            certificate: String(decoding: certificate, as: UTF8.self), key: String(decoding: key, as: UTF8.self), now: clock,
            names: names)
    }

    private func keep(_ identity: ServerIdentity) throws(PushError) {
        do {
            try ResultFile.write(Array(identity.key.utf8), to: keyPath, permissions: 0o600)
            try ResultFile.write(Array(identity.certificate.utf8), to: certificatePath)
        } catch {
            throw failure(error.message)
        }
    }

    private func failure(_ message: String) -> PushError {
        PushError(
            "simulate.data", message, hint: "name a folder that you may write to; one without credentials.json gets new keys")
    }
}
