import PushCore
import Simulators
import WebAPI

/// Whether a server that runs can deliver just now.
struct DeliveryChecks {
    let settings: ServerSettings

    private static let name = "delivery"
    private static let patience = Duration.seconds(5)

    func checks() async -> [Check] {
        let folder = settings.data
        let description = try? await ManagementClient.with(.folder(folder)) { client throws(PushError) in
            try await client.get(ManagementClient.path("server"), patience: Self.patience)
        }
        guard let troubles = description?["troubles"]?.array else { return [] }
        let states = description?["credentials"]?.array?.compactMap { CredentialState($0) } ?? []
        let found = troubles.compactMap { HubTrouble($0) }.map { trouble in
            Self.check(trouble, address: states.first { $0.hub == trouble.hub && $0.platform == trouble.platform }?.credential.address)
        }
        var conditions = (description?["heldRemovals"]?.array ?? []).compactMap { HubHeldRemovals($0) }.map(Self.check)
        if description?["lab"]?["isFull"]?.bool == true {
            let count = description?["lab"]?["adoptedPhones"]?.int ?? 0
            conditions.append(
                .wrong(
                    "lab", "the lab is full: it has made phones of \(count) handles, and pushes to further ones are refused (LabFull)",
                    "raise lab.phones in the settings: the handles may well be right"))
        }
        if description?["lab"]?["isOutOfMemory"]?.bool == true {
            conditions.append(
                .wrong(
                    "lab", "the phones of the lab hold \(PhoneLab.standardStorageLimit >> 30) GiB, and all pushes are refused (LabFull)",
                    "end sessions of the lab, or start the server again: its phones are kept in memory alone"))
        }
        if !conditions.isEmpty { return found + conditions }
        return found.isEmpty ? [.well(Self.name, "no push service is out of reach, and no tokens are mixed up")] : found
    }

    static func check(_ held: HubHeldRemovals) -> Check {
        .wrong(
            name, "hub \(held.hub): the removal of \(held.devices) devices is held (feedback.max_removed_share)",
            "check that the credentials are of the environment of the app's builds; then use pushhost pruned held, apply or drop")
    }

    /// - Parameter address: where the hub's pushes go, where that is known.
    static func check(_ trouble: HubTrouble, address: String? = nil) -> Check {
        let place = "hub \(trouble.hub): \(trouble.platform.displayName)"
        if let words = trouble.mixUp {
            let (finding, hint) = words.halves
            return .wrong(name, "\(place): \(finding)", hint)
        }
        if let block = trouble.block {
            let next = trouble.nextTry.map { "; the next push is tried at \($0.iso8601(fraction: false))" } ?? ""
            return .wrong(
                name, "\(place)\(address.map { " (\($0))" } ?? "") refuses the hub's credential for now (\(block.reason))\(next)",
                block.explanation.isEmpty ? nil : block.explanation)
        }
        let moment = trouble.nextTry?.iso8601(fraction: false) ?? "a while"
        return .wrong(
            name, "\(place)\((trouble.origin ?? address).map { " (\($0))" } ?? "") answers nobody: the next push is tried at \(moment)",
            "look whether this machine reaches the push service, and at the log for what it answers")
    }
}

extension String {
    /// What is, and what to do, which a semicolon divides.
    fileprivate var halves: (String, String?) {
        guard let range = firstRange(of: "; ") else { return (self, nil) }
        return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
    }
}
