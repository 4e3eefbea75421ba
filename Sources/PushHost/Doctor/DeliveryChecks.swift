import PushHub
import PushModel
import PushServer
import Simulators
import WebAPI

/// Checks whether a running server can deliver at present.
struct DeliveryChecks {
    let settings: ServerSettings

    private static let name = "delivery"
    private static let timeout = Duration.seconds(5)

    func checks() async -> [Check] {
        let folder = settings.data
        let description = try? await ManagementClient.with(.folder(folder)) { client throws(PushError) in
            try await client.get(ManagementClient.path("server"), timeout: Self.timeout)
        }
        guard let issues = description?["troubles"]?.array else { return [] }
        let states = description?["credentials"]?.array?.compactMap { CredentialState($0) } ?? []
        let found = issues.compactMap { HubIssue($0) }.map { issue in
            Self.check(issue, address: states.first { $0.hub == issue.hub && $0.platform == issue.platform }?.credential.address)
        }
        var conditions = (description?["heldRemovals"]?.array ?? []).compactMap { HubHeldRemovals($0) }.map(Self.check)
        if description?["lab"]?["isFull"]?.bool == true {
            let count = description?["lab"]?["adoptedPhones"]?.int ?? 0
            conditions.append(
                .wrong(
                    "lab", "the lab is full: it has created \(count) phones, and rejects pushes to further handles (LabFull)",
                    "raise lab.phones in the settings; the handles may be valid"))
        }
        if description?["lab"]?["isOutOfMemory"]?.bool == true {
            conditions.append(
                .wrong(
                    "lab", "the phones of the lab use \(PhoneLab.defaultStorageLimit >> 30) GiB, and all pushes are rejected (LabFull)",
                    "end sessions of the lab, or restart the server; its phones are only in memory"))
        }
        if !conditions.isEmpty { return found + conditions }
        guard found.isEmpty else { return found }
        let isSimulated = description?["lab"] != nil || settings.simulators != nil
        return [Self.withoutIssues(isSimulated: isSimulated, hasCredentials: description?["credentials"]?.array?.isEmpty == false)]
    }

    /// The result for a server whose hubs report no issue. Simulated push services need no credentials.
    static func withoutIssues(isSimulated: Bool, hasCredentials: Bool) -> Check {
        .well(
            name,
            "no push service is paused, and no tokens of the wrong environment were found"
                + (isSimulated || hasCredentials ? "" : "; no push credentials are set"))
    }

    static func check(_ held: HubHeldRemovals) -> Check {
        .wrong(
            name, "hub \(held.hub): the removal of \(held.devices) devices is held (feedback.max_removed_share)",
            "check that the credentials are for the environment of the app's builds; then use pushhost pruned held, apply or drop")
    }

    /// - Parameter address: where the hub's pushes are sent, if known.
    static func check(_ issue: HubIssue, address: String? = nil) -> Check {
        let place = "hub \(issue.hub): \(issue.platform.displayName)"
        if let words = issue.wrongEnvironment {
            let (finding, hint) = words.halves
            return .wrong(name, "\(place): \(finding)", hint)
        }
        if let block = issue.block {
            let next = issue.nextTry.map { "; next attempt at \($0.iso8601(fraction: false))" } ?? ""
            return .wrong(
                name, "\(place)\(address.map { " (\($0))" } ?? "") rejects the hub's credential (\(block.reason))\(next)",
                block.explanation.isEmpty ? nil : block.explanation)
        }
        let nextTry = issue.nextTry?.iso8601(fraction: false) ?? "an unknown time"
        return .wrong(
            name, "\(place)\((issue.origin ?? address).map { " (\($0))" } ?? "") does not respond; next attempt at \(nextTry)",
            "check the connection to the push service, and the log for its answers")
    }
}

extension String {
    /// The finding and the hint, which a semicolon separates.
    fileprivate var halves: (String, String?) {
        guard let range = firstRange(of: "; ") else { return (self, nil) }
        return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
    }
}
