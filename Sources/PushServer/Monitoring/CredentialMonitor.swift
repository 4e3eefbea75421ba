import Delivery
import Logging
import PushHub
import PushModel
import PushRuntime
import WebAPI

/// Watches the credentials that the hubs of a server send with.
package struct CredentialMonitor: Sendable {
    let connectors: HubConnectors
    let namespace: Namespace
    let log: Logger
    let metrics: PrometheusRegistry

    /// The states of all credentials.
    var states: [CredentialState] { connectors.credentialStates(of: namespace.hubs.map(\.record)) }

    /// Reads the settings' credential files again if they have changed.
    package func reload() async {
        for watched in connectors.watched { await reload(watched) }
    }

    private func reload(_ watched: WatchedCredential) async {
        guard let change = try? await blocking({ () throws(PushError) in watched.reload() }) else { return }
        let name = watched.serviceName
        switch change {
        case .none: break
        case .renewed(let settings):
            let shown = settings.credential(setting: nil)
            let end = shown.expires.map { ", valid until \($0.iso8601(fraction: false))" } ?? ""
            log.notice("the \(name) credential was reloaded: \(shown.words)\(end)")
        case .refused(let fault, let hasPrevious):
            let what = hasPrevious ? "the previous \(name) credential stays in use" : "cannot send to \(name)"
            log.error("\(what): \(fault.message)\(fault.hint.map { "; \($0)" } ?? "")")
        }
    }

    /// Logs certificates that have expired or expire soon, and Web Push contacts that some push services refuse, each finding once.
    ///
    /// - Parameter known: findings that have been logged.
    /// - Returns: the current findings.
    package func warn(known: Set<String>) -> Set<String> {
        var found: Set<String> = []
        for state in states {
            if let warning = state.credential.subject.flatMap({ WebPushSettings.warning(ofSubject: $0) }) {
                let text = "hub \"\(state.hub)\": \(warning)"
                if found.insert(text).inserted, !known.contains(text) { log.warning("\(text); \(WebPushSettings.contactHint)") }
            }
            guard let end = state.credential.expires, let finding = CredentialExpiry.finding(expiring: end, now: SystemClock().now) else {
                continue
            }
            let text = "hub \"\(state.hub)\": the APNs certificate \(finding)"
            if found.insert(text).inserted, !known.contains(text) { log.warning("\(text); \(CredentialExpiry.renewal)") }
        }
        return found
    }

    /// Sets `pushhost_credential_usable` (1 or 0), and `pushhost_credential_expires_seconds` and `pushhost_provider_token_issued_seconds`,
    /// both since 1970.
    func measure() {
        let states = states
        func values(_ value: (CredentialState) -> Int64?) -> [(dimensions: [(String, String)], value: Double)] {
            states.compactMap { state in
                value(state).map { ([("hub", state.hub), ("platform", state.platform.rawValue)], Double($0)) }
            }
        }
        metrics.replace("pushhost_credential_usable", with: values { $0.isUsable ? 1 : 0 })
        metrics.replace("pushhost_credential_expires_seconds", with: values { $0.credential.expires?.seconds })
        metrics.replace("pushhost_provider_token_issued_seconds", with: values { $0.tokenIssued?.seconds })
    }
}
