import Delivery
import Logging
import PushCore

extension PushServer {
    /// Takes the files of the APNs credential again where they have changed.
    func readCredentialsAgain() async {
        guard let files = connectors.files, let change = try? await blocking({ () throws(PushError) in files.reload() }) else { return }
        switch change {
        case .none: break
        case .renewed(let settings):
            let end = settings.certificate.map { ", good until \($0.expires.iso8601(fraction: false))" } ?? ""
            log.notice("the APNs credential was read again: \(settings.topic), \(settings.environment.rawValue)\(end)")
        case .refused(let fault, let goesOn):
            let what = goesOn ? "the APNs credential stays as it was" : "nothing can be sent to APNs"
            log.error("\(what): \(fault.message)\(fault.hint.map { "; \($0)" } ?? "")")
        }
    }

    /// Tells the log which certificates end soon or have ended, each finding once.
    /// - Parameter known: what was told before.
    func warnOfCredentials(known: Set<String>) -> Set<String> {
        var found: Set<String> = []
        for state in connectors.credentialStates(of: namespace.hubs.map(\.record)) {
            guard let end = state.expires, let finding = CredentialChecks.finding(expiring: end, now: SystemClock().now) else { continue }
            let text = "the hub \(state.hub): the APNs certificate \(finding)"
            if found.insert(text).inserted, !known.contains(text) { log.warning("\(text); \(CredentialChecks.renewal)") }
        }
        return found
    }

    /// `pushhost_credential_expires_seconds` and `pushhost_provider_token_issued_seconds`, both since 1970.
    func measureCredentials() {
        let states = connectors.credentialStates(of: namespace.hubs.map(\.record))
        func values(_ moment: (CredentialState) -> Timestamp?) -> [(dimensions: [(String, String)], value: Double)] {
            states.compactMap { state in
                moment(state).map { ([("hub", state.hub), ("platform", state.platform.rawValue)], Double($0.seconds)) }
            }
        }
        metrics.replace("pushhost_credential_expires_seconds", with: values(\.expires))
        metrics.replace("pushhost_provider_token_issued_seconds", with: values(\.tokenIssued))
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
            return ["channel": .string(try await channels.create(policy)), "keep": .string(policy.word)]
        case "show":
            let policy = try await channels.policy(of: channel)
            return ["channel": .string(channel), "keep": policy.map { .string($0.word) } ?? .null]
        case "list": return ["items": .array(try await channels.all().map { .string($0) })]
        case "delete":
            try await channels.delete(channel)
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
