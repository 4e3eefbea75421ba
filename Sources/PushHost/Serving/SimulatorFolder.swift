import Glibc
import PushCore
import Simulators

/// Where the simulated services keep their keys from one start to the next.
struct SimulatorFolder {
    let path: String

    var credentialsPath: String { "\(path)/credentials.json" }
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

    private func failure(_ message: String) -> PushError {
        PushError(
            "simulate.data", message, hint: "name a folder that you may write to; one without credentials.json gets new keys")
    }
}
