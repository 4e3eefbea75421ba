import Delivery
import Logging
import PushCore
import WebAPI

extension PushServer {
    /// Takes the files of the settings' credentials again where they have changed.
    func readCredentialsAgain() async {
        for watched in connectors.watched { await readAgain(watched) }
    }

    private func readAgain(_ watched: WatchedCredential) async {
        guard let change = try? await blocking({ () throws(PushError) in watched.reload() }) else { return }
        let name = watched.serviceName
        switch change {
        case .none: break
        case .renewed(let settings):
            let shown = settings.credential(setting: nil)
            let end = shown.expires.map { ", good until \($0.iso8601(fraction: false))" } ?? ""
            log.notice("the \(name) credential was read again: \(shown.words)\(end)")
        case .refused(let fault, let goesOn):
            let what = goesOn ? "the \(name) credential stays as it was" : "nothing can be sent to \(name)"
            log.error("\(what): \(fault.message)\(fault.hint.map { "; \($0)" } ?? "")")
        }
    }

    /// Logs certificates that end soon or have ended, and contacts that some push services refuse, each finding once.
    /// - Parameter known: what was told before.
    func warnOfCredentials(known: Set<String>) -> Set<String> {
        var found: Set<String> = []
        for state in connectors.credentialStates(of: namespace.hubs.map(\.record)) {
            if let warning = state.credential.subject.flatMap({ WebPushSettings.warning(ofSubject: $0) }) {
                let text = "the hub \(state.hub): \(warning)"
                if found.insert(text).inserted, !known.contains(text) { log.warning("\(text); \(WebPushSettings.contactHint)") }
            }
            guard let end = state.credential.expires, let finding = CredentialChecks.finding(expiring: end, now: SystemClock().now) else {
                continue
            }
            let text = "the hub \(state.hub): the APNs certificate \(finding)"
            if found.insert(text).inserted, !known.contains(text) { log.warning("\(text); \(CredentialChecks.renewal)") }
        }
        return found
    }

    /// `pushhost_credential_usable` (1, or 0 where nothing can be sent with it), `pushhost_credential_expires_seconds` and
    /// `pushhost_provider_token_issued_seconds`, both since 1970.
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

    /// `{"hub", "action": "create" | "show" | "list" | "delete", "channel"?, "keep"?}`, as `pushhost apns channels` sends it.
    func channels(_ order: JSON) async throws(PushError) -> JSON {
        let name = order["hub"]?.string ?? ""
        guard let hub = namespace.hub(name)?.record else {
            throw PushError("hub.not_found", "there is no hub \"\(name)\"", hint: "check its name", status: 404)
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
                "request.body", "the body has no action", hint: "say create, show, list or delete", status: 400)
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
