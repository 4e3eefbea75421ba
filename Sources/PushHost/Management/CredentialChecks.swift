import Delivery
import PushCore
import WebAPI

/// Whether the credentials can be used, and for how long.
struct CredentialChecks {
    let settings: ServerSettings
    let now: Timestamp

    private static let patience = Duration.seconds(5)
    /// Apple sends its reminder at this time.
    private static let soon: Duration = .seconds(30 * 86_400)
    static let renewal = "renew it in Apple's developer account, and put the new one in its place"

    /// Those of the settings, and of a server that runs those of its hubs.
    func checks(isRunning: Bool) async -> [Check] {
        guard !settings.isLab else { return [] }
        let server = isRunning ? try? await description() : nil
        let states = server?["credentials"]?.array?.compactMap { CredentialState($0) } ?? []
        return settings.credentialSources.map { check($0, states) }
            + states.filter { !$0.isFromSettings }.map { check($0, "hub \($0.hub)") }
    }

    private func description() async throws(PushError) -> JSON {
        try await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
            try await client.get(ManagementClient.path("server"), patience: Self.patience)
        }
    }

    /// The files as they are now; a server that runs may still go on with what was in them before.
    private func check(_ source: any CredentialSource, _ states: [CredentialState]) -> Check {
        let platform = source.kind.platform ?? .apns
        do throws(PushError) {
            return check(CredentialState(hub: "", try source.sender()), "settings")
        } catch {
            let isUsed = states.contains { $0.isFromSettings && $0.isUsable && $0.platform == platform }
            return .wrong(platform.displayName, error.message + (isUsed ? "; the server goes on with the one before" : ""), error.hint)
        }
    }

    private func check(_ state: CredentialState, _ place: String) -> Check {
        let name = state.platform.displayName
        if let fault = state.credential.fault { return .wrong(name, "\(place): \(fault)", state.hint) }
        let what = "\(place): \(state.credential.words)"
        if let warning = state.credential.subject.flatMap({ WebPushSettings.warning(ofSubject: $0) }) {
            return .soon(name, "\(place): \(warning)", WebPushSettings.contactHint)
        }
        guard let end = state.credential.expires else { return .well(name, what) }
        guard let finding = Self.finding(expiring: end, now: now) else {
            return .well(name, "\(what), good until \(end.iso8601(fraction: false))")
        }
        return end <= now
            ? .wrong(name, "\(what): it \(finding)", Self.renewal) : .soon(name, "\(what): it \(finding)", Self.renewal)
    }

    /// Nil as long as there is time enough.
    static func finding(expiring end: Timestamp, now: Timestamp) -> String? {
        guard end > now else { return "ended on \(end.iso8601(fraction: false))" }
        return end - now < soon ? "ends on \(end.iso8601(fraction: false))" : nil
    }
}
