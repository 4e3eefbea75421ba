import Delivery
import PushModel
import PushServer

/// Checks whether removed devices can be reported to the app's backend.
struct WebhookChecks {
    let settings: ServerSettings
    let network: NetworkChecks

    private static let name = "webhook"
    private static let timeout = Duration.seconds(5)

    func checks(isRunning: Bool) async -> [Check] {
        let state = isRunning ? await state() : nil
        // A running server may use another address than the settings have now.
        guard let address = state?.address ?? settings.feedback.origin else { return [] }
        if let state, let issue = state.issue { return [Self.check(state, issue)] }
        if let objection = await objection { return [.wrong(Self.name, "\(address): \(objection)", nil)] }
        guard await network.isReached("\(address)/") else {
            return [.wrong(Self.name, "\(address) is not reachable", "allow outgoing connections to it, or correct feedback.webhook")]
        }
        return [.well(Self.name, "\(address) is reachable\(state.map { ", \(Self.waiting($0.waiting))" } ?? "")")]
    }

    /// Why nothing may be sent to the address; nil if it is allowed.
    private var objection: String? {
        get async {
            guard let (webhook, network) = settings.feedback.webhook(allowsPrivate: settings.allowsPrivate), let network else { return nil }
            do throws(PublicNetwork.Refusal) {
                try await network.check(webhook.address.host)
                return nil
            } catch {
                return error.description
            }
        }
    }

    private func state() async -> WebhookState? {
        let description = try? await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
            try await client.get(ManagementClient.path("server"), timeout: Self.timeout)
        }
        return description?["webhook"].flatMap { WebhookState($0) }
    }

    static func check(_ state: WebhookState, _ issue: WebhookIssue) -> Check {
        let (since, next) = (issue.since.iso8601(fraction: false), issue.nextTry.iso8601(fraction: false))
        return .wrong(
            name,
            "\(state.address) has accepted no reports since \(since): \(issue.why); \(waiting(state.waiting)), next attempt at \(next)",
            "check that the app's backend is running, and its answers; up to \(PrunedWebhook.maximumUnreported) removals per hub are stored"
        )
    }

    private static func waiting(_ count: Int) -> String {
        switch count {
        case 0: "no removals to report"
        case 1: "1 removal to report"
        default: "\(count) removals to report"
        }
    }
}
