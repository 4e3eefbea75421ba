import Delivery
import PushModel
import PushServer
import WebAPI

/// Checks whether the push credentials can be used, and for how long.
struct CredentialChecks {
    let settings: ServerSettings
    let now: Timestamp

    private static let timeout = Duration.seconds(5)
    /// How long before its end an expiring credential is reported. Apple sends its reminder at the same time.

    /// Checks the credentials of the settings and, if the server runs, those of its hubs.
    func checks(isRunning: Bool) async -> [Check] {
        guard !settings.isLab else { return [] }
        let server = isRunning ? try? await description() : nil
        let states = server?["credentials"]?.array?.compactMap { CredentialState($0) } ?? []
        return settings.credentialSources.map { check($0, states) }
            + states.filter { !$0.isFromSettings }.map { check($0, "hub \($0.hub)") }
    }

    private func description() async throws(PushError) -> JSON {
        try await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
            try await client.get(ManagementClient.path("server"), timeout: Self.timeout)
        }
    }

    /// Checks the credential files as they are now. A running server may still use their previous content.
    private func check(_ source: any CredentialSource, _ states: [CredentialState]) -> Check {
        let platform = source.kind.platform ?? .apns
        do throws(PushError) {
            return check(CredentialState(hub: "", try source.sender()), "settings")
        } catch {
            let isUsed = states.contains { $0.isFromSettings && $0.isUsable && $0.platform == platform }
            return .wrong(platform.displayName, error.message + (isUsed ? "; the server continues with the previous one" : ""), error.hint)
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
        guard let finding = CredentialExpiry.finding(expiring: end, now: now) else {
            return .well(name, "\(what), valid until \(end.iso8601(fraction: false))")
        }
        return end <= now
            ? .wrong(name, "\(what): it \(finding)", CredentialExpiry.renewal)
            : .soon(name, "\(what): it \(finding)", CredentialExpiry.renewal)
    }
}
