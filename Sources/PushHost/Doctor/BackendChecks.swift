import Crypto
import Delivery
import Glibc
import PushBackend
import PushModel
import PushServer
import Storage
import WebAPI

/// Checks what the app backend needs.
struct BackendChecks {
    let settings: ServerSettings

    private static let timeout = Duration.seconds(5)

    /// Checks the backend's hub, its accounts and the key of its secure payloads.
    func storedData() async -> [Check] {
        let path = "\(settings.data)/\(DataFolder.databaseName)"
        guard access(path, F_OK) == 0 else { return hub([]) }
        // Another check reports what is wrong with the database.
        guard let contents = try? await SQLiteStorage.contents(of: path) else { return [] }
        return hub(contents.hubs) + accounts(contents.cheapAccounts) + payloadKey(contents.payloadsByKey, contents.sealing)
    }

    private func accounts(_ cheap: Int) -> [Check] {
        guard cheap > 0, !settings.isLab else { return [] }
        return [.wrong("accounts", WeakPasswordHashes.finding(cheap), WeakPasswordHashes.remedy)]
    }

    private func hub(_ names: [String]) -> [Check] {
        guard let name = settings.backend.hub else { return [] }
        // The server's first start creates this hub.
        let names = names.isEmpty ? [settings.hub] : names
        guard !names.contains(where: { $0.lowercased() == name.lowercased() }) else {
            return [.well("backend", "/api serves hub \"\(name)\"")]
        }
        let absence = BackendSettings.absence(of: name, among: names)
        return [.wrong("backend", absence.finding, absence.hint)]
    }

    private func payloadKey(_ counts: [[UInt8]: Int], _ sealing: SealingState?) -> [Check] {
        let (name, file) = ("payload key", PayloadKeyFile(settings))
        do throws(PushError) {
            let elsewhere = try file.differingRecord()
            guard !file.isMissing else {
                if let elsewhere { return [.wrong(name, file.finding(elsewhere), Self.recordedKeyHint)] }
                let lost = SecurePayloadService.sealedWithOtherKey(counts, than: nil)
                let payloads = lost > 0 ? ", and \(PayloadKeyFile.payloads(lost)) cannot be decrypted" : ""
                return [.wrong(name, "\(file.path) is missing: the server does not start without it\(payloads)", Self.remedy)]
            }
            let key = try file.read()
            let (lost, unmarked) = (SecurePayloadService.sealedWithOtherKey(counts, than: key), counts[[]] ?? 0)
            var checks = secrets(sealing, file, key, elsewhere)
            if lost > 0 { checks.append(.wrong(name, file.warning(lost), PayloadKeyFile.remedy)) }
            if unmarked > 0 { checks.append(.wrong(name, file.doubt(unmarked), PayloadKeyFile.trial)) }
            if lost + unmarked == 0, checks.allSatisfy(\.isWell) {
                checks.append(.well(name, "decrypts all stored secure payloads"))
            }
            if file.isAccessibleToOthers {
                checks.append(.wrong(name, "other users can read \(file.path), which decrypts every secret", "chmod 600 \(file.path)"))
            }
            return checks
        } catch {
            return [.wrong(name, error)]
        }
    }

    private static let remedy =
        "restore the file, or name it with key.file; if it is lost, create new access keys with pushhost hub renew-secrets"

    private static let recordedKeyHint = "\(PayloadKeyFile.naming); if the key is lost, \(PayloadKeyFile.renewal)"

    /// Checks access keys, push credentials and other secrets that are sealed in the database.
    ///
    /// - Parameter elsewhere: the key file that the data folder records, if the settings name another one.
    private func secrets(_ sealing: SealingState?, _ file: PayloadKeyFile, _ key: SymmetricKey, _ elsewhere: String?) -> [Check] {
        let name = "secrets"
        guard let sealing else {
            return [.wrong(name, "an older version stored them in clear text", "start the server, which encrypts them")]
        }
        guard sealing.isSealed(with: PayloadKeyFile.seal(of: key)) else {
            if let elsewhere { return [.wrong(name, file.finding(elsewhere), Self.recordedKeyHint)] }
            return [.wrong(name, "encrypted with another key than \(file.path): the server does not start", Self.remedy)]
        }
        guard sealing.isClean else { return [.wrong(name, PayloadKeyFile.residue, PayloadKeyFile.erasing)] }
        return [.well(name, "encrypted with the key in \(file.path)")]
    }

    /// Checks the public keys of the token issuer, read from a file or over the network.
    func issuer() async -> [Check] {
        guard let keys = settings.backend.keys, let source = IssuerKeySource(keys) else { return [] }
        let transport = HTTPClientTransport(
            limits: .init(connect: Self.timeout, exchange: Self.timeout, answerBody: IssuerKeySource.largestDocument))
        let check: Check
        do throws(PushError) {
            let count = try await source.fetch(over: transport).count()
            check = .well("issuer", "\(keys) has \(count) key\(count == 1 ? "" : "s") for tokens")
        } catch {
            check = .wrong(
                "issuer", "backend.jwt.keys: \(keys) cannot be used: \(error.message)",
                source.isFile ? "the server does not start until this is fixed" : "tokens are answered with 503 until this is fixed")
        }
        await transport.shutdown()
        return [check]
    }
}
