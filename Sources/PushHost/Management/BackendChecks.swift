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
        guard access(path, F_OK) == 0 else { return hub([]) + payloadKey([:]) }
        // What is wrong with the database is told by another check; nothing is known of what is in it.
        guard let contents = try? await SQLiteStorage.contents(of: path) else { return [] }
        return hub(contents.hubs) + accounts(contents.cheapAccounts) + payloadKey(contents.payloadsByKey)
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

    private func payloadKey(_ counts: [[UInt8]: Int]) -> [Check] {
        let (name, file) = ("payload key", "\(settings.data)/\(PayloadKeyFile.name)")
        let isThere = access(file, F_OK) == 0
        guard isThere || !counts.isEmpty else { return [] }
        do throws(PushError) {
            let lost = SecurePayloadService.sealedOtherwise(counts, than: isThere ? try PayloadKeyFile.read(in: settings.data) : nil)
            guard isThere else {
                let finding = "\(file) is gone, without which \(PayloadKeyFile.payloads(lost)) cannot be opened"
                return [.wrong(name, finding, PayloadKeyFile.remedy)]
            }
            let unmarked = counts[[]] ?? 0
            guard lost + unmarked > 0 else { return [.well(name, "it opens the secure payloads that are kept")] }
            return (lost > 0 ? [.wrong(name, PayloadKeyFile.warning(lost, in: settings.data), PayloadKeyFile.remedy)] : [])
                + (unmarked > 0 ? [.wrong(name, PayloadKeyFile.doubt(unmarked, in: settings.data), PayloadKeyFile.trial)] : [])
        } catch {
            return [.wrong(name, error)]
        }
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
