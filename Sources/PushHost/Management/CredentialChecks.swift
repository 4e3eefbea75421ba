import PushCore

/// Whether the credentials for APNs can be used, and for how long.
struct CredentialChecks {
    let settings: ServerSettings
    let now: Timestamp

    private static let name = "APNs"
    private static let patience = Duration.seconds(5)
    /// Apple sends its reminder at this time.
    private static let soon: Duration = .seconds(30 * 86_400)
    static let renewal = "renew it in Apple's developer account, and put the new one in its place"

    /// Those of the settings, and of a server that runs those of its hubs.
    func checks(isRunning: Bool) async -> [Check] {
        guard !settings.isLab else { return [] }
        let server = isRunning ? try? await description() : nil
        let states = server?["credentials"]?.array?.compactMap { CredentialState($0) } ?? []
        return files(states) + states.filter { !$0.isFromFiles }.map { check($0, "hub \($0.hub)") }
    }

    private func description() async throws(PushError) -> JSON {
        try await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
            try await client.get(ManagementClient.path("server"), patience: Self.patience)
        }
    }

    /// The files as they are now; a server that runs may still go on with what was in them before.
    private func files(_ states: [CredentialState]) -> [Check] {
        guard settings.apns.isGiven else { return [] }
        do throws(PushError) {
            return [check(CredentialState(hub: "", try settings.apns.settings(), tokenIssued: nil), "settings")]
        } catch {
            let isUsed = states.contains { $0.isFromFiles && $0.kind != nil }
            return [.wrong(Self.name, error.message + (isUsed ? "; the server goes on with the one before" : ""), error.hint)]
        }
    }

    private func check(_ state: CredentialState, _ place: String) -> Check {
        if let fault = state.fault { return .wrong(Self.name, "\(place): \(fault)", state.hint) }
        let what = "\(place): \(state.kind ?? "") for \(state.topic ?? ""), \(state.environment ?? "")"
        guard let end = state.expires else { return .well(Self.name, what) }
        guard let finding = Self.finding(expiring: end, now: now) else {
            return .well(Self.name, "\(what), good until \(end.iso8601(fraction: false))")
        }
        return end <= now
            ? .wrong(Self.name, "\(what): it \(finding)", Self.renewal) : .soon(Self.name, "\(what): it \(finding)", Self.renewal)
    }

    /// Nil as long as there is time enough.
    static func finding(expiring end: Timestamp, now: Timestamp) -> String? {
        guard end > now else { return "ended on \(end.iso8601(fraction: false))" }
        return end - now < soon ? "ends on \(end.iso8601(fraction: false))" : nil
    }
}
