import Delivery
import Logging
import PushHub
import PushModel
import PushRuntime
import WebAPI

extension RunningServer {
    /// Reads the settings' credential files again if they have changed.
    package func reloadCredentials() async {
        for watched in connectors.watched { await reloadCredential(watched) }
    }

    private func reloadCredential(_ watched: WatchedCredential) async {
        guard let change = try? await blocking({ () throws(PushError) in watched.reload() }) else { return }
        let name = watched.serviceName
        switch change {
        case .none: break
        case .renewed(let settings):
            let shown = settings.credential(setting: nil)
            let end = shown.expires.map { ", valid until \($0.iso8601(fraction: false))" } ?? ""
            log.notice("the \(name) credential was reloaded: \(shown.words)\(end)")
        case .refused(let fault, let goesOn):
            let what = goesOn ? "the previous \(name) credential stays in use" : "cannot send to \(name)"
            log.error("\(what): \(fault.message)\(fault.hint.map { "; \($0)" } ?? "")")
        }
    }

    /// Logs certificates that have expired or expire soon, and Web Push contacts that some push services refuse, each finding once.
    ///
    /// - Parameter known: findings that have been logged.
    /// - Returns: the current findings.
    package func warnAboutCredentials(known: Set<String>) -> Set<String> {
        var found: Set<String> = []
        for state in connectors.credentialStates(of: namespace.hubs.map(\.record)) {
            if let warning = state.credential.subject.flatMap({ WebPushSettings.warning(ofSubject: $0) }) {
                let text = "the hub \(state.hub): \(warning)"
                if found.insert(text).inserted, !known.contains(text) { log.warning("\(text); \(WebPushSettings.contactHint)") }
            }
            guard let end = state.credential.expires, let finding = CredentialExpiry.finding(expiring: end, now: SystemClock().now) else {
                continue
            }
            let text = "the hub \(state.hub): the APNs certificate \(finding)"
            if found.insert(text).inserted, !known.contains(text) { log.warning("\(text); \(CredentialExpiry.renewal)") }
        }
        return found
    }

    /// Sets `pushhost_credential_usable` (1 or 0), and `pushhost_credential_expires_seconds` and `pushhost_provider_token_issued_seconds`,
    /// both since 1970.
    func measureCredentials() {
        let states = connectors.credentialStates(of: namespace.hubs.map(\.record))
        func values(_ value: (CredentialState) -> Int64?) -> [(dimensions: [(String, String)], value: Double)] {
            states.compactMap { state in
                value(state).map { ([("hub", state.hub), ("platform", state.platform.rawValue)], Double($0)) }
            }
        }
        metrics.replace("pushhost_credential_usable", with: values { $0.isUsable ? 1 : 0 })
        metrics.replace("pushhost_credential_expires_seconds", with: values { $0.credential.expires?.seconds })
        metrics.replace("pushhost_provider_token_issued_seconds", with: values { $0.tokenIssued?.seconds })
    }

    /// Handles a request of `pushhost apns channels`: `{"hub", "action": "create" | "show" | "list" | "delete", "channel"?, "keep"?}`.
    func channels(_ order: JSON) async throws(PushError) -> JSON {
        let name = order["hub"]?.string ?? ""
        guard let hub = namespace.hub(name)?.record else {
            throw PushError("hub.not_found", "unknown hub \"\(name)\"", hint: "check its name", status: 404)
        }
        let channels = try await connectors.channels(of: hub)
        let channel = order["channel"]?.string ?? ""
        switch order["action"]?.string {
        case "create":
            let policy: APNsChannels.StoragePolicy = order["keep"]?.string == "newest" ? .newest : .nothing
            let made = try await channels.create(policy)
            await audit.noteChannel(.channelCreate, made, of: hub.name)
            return ["channel": .string(made), "keep": .string(policy.word)]
        case "show":
            let policy = try await channels.policy(of: channel)
            return ["channel": .string(channel), "keep": policy.map { .string($0.word) } ?? .null]
        case "list": return ["items": .array(try await channels.all().map { .string($0) })]
        case "delete":
            try await channels.delete(channel)
            await audit.noteChannel(.channelDelete, channel, of: hub.name)
            return ["channel": .string(channel)]
        default:
            throw PushError(
                "request.body", "the body has no valid action", hint: "use create, show, list or delete", status: 400)
        }
    }
}

extension APNsChannels.StoragePolicy {
    var word: String {
        switch self {
        case .nothing: "nothing"
        case .newest: "newest"
        }
    }
}
