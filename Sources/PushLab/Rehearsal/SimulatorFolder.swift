import Glibc
package import PushModel
import PushRuntime
package import Simulators

/// The folder in which simulators store their keys between runs.
package struct SimulatorFolder {
    let path: String

    package init(path: String) {
        self.path = path
    }

    package var credentialsPath: String { "\(path)/credentials.json" }
    /// The public TLS certificate of the simulators.
    package var certificatePath: String { "\(path)/certificate.pem" }
    private var keyPath: String { "\(path)/key.pem" }
    package var ledgerPath: String { "\(path)/ledger.jsonl" }

    /// Reads the keys; creates the folder and the keys if they do not exist. Throws `simulate.data`.
    package func credentials(making make: () throws(PushError) -> SimulatorCredentials) throws(PushError) -> SimulatorCredentials {
        if mkdir(path, 0o755) != 0, errno != EEXIST { throw failure("cannot create \(path): \(String(cString: strerror(errno)))") }
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
            throw failure("\(credentialsPath) does not contain the keys of the simulators")
        }
        return credentials
    }

    /// Reads the certificate; creates one if it is missing or expires soon. Without a folder creates one for this run. Throws
    /// `simulate.data`.
    ///
    /// - Parameter names: names in addition to those of the services.
    package static func identity(
        in folder: SimulatorFolder?, now clock: SimulatorClock, names: [String] = []
    ) throws(PushError) -> ServerIdentity {
        if let known = folder?.identity(now: clock, names) { return known }
        guard let identity = ServerIdentity(now: clock, names: names) else {
            throw PushError("tls.unusable", "the simulators could not create a certificate")
        }
        try folder?.save(identity)
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

    private func save(_ identity: ServerIdentity) throws(PushError) {
        do {
            try ResultFile.write(Array(identity.key.utf8), to: keyPath, permissions: 0o600)
            try ResultFile.write(Array(identity.certificate.utf8), to: certificatePath)
        } catch {
            throw failure(error.message)
        }
    }

    private func failure(_ message: String) -> PushError {
        PushError(
            "simulate.data", message, hint: "use a writable folder; one without credentials.json gets new keys")
    }
}

extension SimulatorCredentials {
    /// Creates new keys. Throws `credential.invalid` if no RSA key can be created.
    package static func generated(_ random: SimulatorRandom) throws(PushError) -> SimulatorCredentials {
        guard let credentials = SimulatorCredentials(random: random) else {
            throw PushError("credential.invalid", "could not create an RSA key for the simulators")
        }
        return credentials
    }
}
