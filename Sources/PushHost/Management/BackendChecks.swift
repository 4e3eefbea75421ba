import Crypto
import Delivery
import Glibc
import PushCore
import Storage
import WebAPI

/// What the app backend needs.
struct BackendChecks {
    let settings: ServerSettings

    private static let patience = Duration.seconds(5)

    /// Its hub, its accounts, and the key of its secure payloads.
    func kept() async -> [Check] {
        let path = "\(settings.data)/\(DataFolder.databaseName)"
        guard access(path, F_OK) == 0 else { return hub([]) }
        // What is wrong with the database is told by another check; nothing is known of what is in it.
        guard let contents = try? await SQLiteStorage.contents(of: path) else { return [] }
        return hub(contents.hubs) + accounts(contents.cheapAccounts) + payloadKey(contents.payloadsByKey, contents.sealing)
    }

    private func accounts(_ cheap: Int) -> [Check] {
        guard cheap > 0, !settings.isLab else { return [] }
        return [.wrong("accounts", CheapAccounts.finding(cheap), CheapAccounts.remedy)]
    }

    private func hub(_ names: [String]) -> [Check] {
        guard let name = settings.backend.hub else { return [] }
        // The first start makes one.
        let names = names.isEmpty ? [settings.hub] : names
        guard !names.contains(where: { $0.lowercased() == name.lowercased() }) else {
            return [.well("backend", "/api is the backend of the hub \(name)")]
        }
        let absence = BackendSettings.absence(of: name, among: names)
        return [.wrong("backend", absence.finding, absence.hint)]
    }

    private func payloadKey(_ counts: [[UInt8]: Int], _ sealing: SealingState?) -> [Check] {
        let (name, file) = ("payload key", PayloadKeyFile(settings))
        do throws(PushError) {
            let elsewhere = try file.recordedOtherwise()
            guard !file.isMissing else {
                if let elsewhere { return [.wrong(name, file.finding(elsewhere), Self.wayBack)] }
                let lost = SecurePayloadService.sealedOtherwise(counts, than: nil)
                let payloads = lost > 0 ? ", and \(PayloadKeyFile.payloads(lost)) cannot be opened" : ""
                return [.wrong(name, "\(file.path) is gone: the server does not start without it\(payloads)", Self.wayOut)]
            }
            let key = try file.read()
            let (lost, unmarked) = (SecurePayloadService.sealedOtherwise(counts, than: key), counts[[]] ?? 0)
            var checks = secrets(sealing, file, key, elsewhere)
            if lost > 0 { checks.append(.wrong(name, file.warning(lost), PayloadKeyFile.remedy)) }
            if unmarked > 0 { checks.append(.wrong(name, file.doubt(unmarked), PayloadKeyFile.trial)) }
            if lost + unmarked == 0, checks.allSatisfy(\.isWell) {
                checks.append(.well(name, "it opens the secure payloads that are kept"))
            }
            if file.isOpenToOthers {
                checks.append(.wrong(name, "others may read \(file.path)", "chmod 600 \(file.path): it opens every secret"))
            }
            return checks
        } catch {
            return [.wrong(name, error)]
        }
    }

    private static let wayOut =
        "put the file back, or name it with key.file; if it is lost, pushhost hub renew-secrets goes on with new access keys"

    private static let wayBack = "\(PayloadKeyFile.naming); if the key is lost, \(PayloadKeyFile.renewal)"

    /// Access keys, push credentials and what else is sealed in the database.
    ///
    /// - Parameter elsewhere: the key file that the folder records, where that is another one.
    private func secrets(_ sealing: SealingState?, _ file: PayloadKeyFile, _ key: SymmetricKey, _ elsewhere: String?) -> [Check] {
        let name = "secrets"
        guard let sealing else {
            return [.wrong(name, "an older version stored them in clear", "start the server: this version seals them")]
        }
        guard sealing.isSealed(with: PayloadKeyFile.seal(of: key)) else {
            if let elsewhere { return [.wrong(name, file.finding(elsewhere), Self.wayBack)] }
            return [.wrong(name, "\(file.path) is not the key that they are sealed with: the server does not start", Self.wayOut)]
        }
        guard sealing.isClean else { return [.wrong(name, PayloadKeyFile.residue, PayloadKeyFile.erasing)] }
        return [.well(name, "sealed with the key in \(file.path)")]
    }

    /// The keys of the issuer of tokens, from a file or over the network.
    func issuer() async -> [Check] {
        guard let keys = settings.backend.keys, let source = IssuerKeySource(keys) else { return [] }
        let transport = HTTPClientTransport(
            limits: .init(connect: Self.patience, exchange: Self.patience, answerBody: IssuerKeySource.largestDocument))
        let check: Check
        do throws(PushError) {
            let count = try await source.fetch(over: transport).count()
            check = .well("issuer", "\(keys) has \(count) key\(count == 1 ? "" : "s") for tokens")
        } catch {
            check = .wrong(
                "issuer", "backend.jwt.keys: \(keys) cannot be used: \(error.message)",
                source.isFile ? "the server does not start with it" : "tokens are answered with 503 until it can")
        }
        await transport.shutdown()
        return [check]
    }
}
