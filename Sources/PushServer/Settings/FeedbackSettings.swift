package import Delivery
import PushModel
import PushRuntime

/// Settings for invalid device tokens: the webhook to notify, and how many devices one notification may remove.
package struct FeedbackSettings: Sendable, Equatable {
    /// Address of the webhook; nil for none.
    var webhook: String?
    var secret: Secret?
    /// The maximum share of a notification's audience that may be removed, 0 to 1.
    var maxRemovedShare = 0.2

    static let minimumSecretLength = 16
}

extension ServerSettings {
    static let feedbackSettings: [Setting] = [
        Setting(
            "feedback.webhook", .url,
            "Webhook that receives devices removed because their tokens are invalid, as JSON: an https:// address; http:// only on this "
                + "machine."
        ) { $0.feedback.webhook = $1.text },
        Setting("feedback.secret", .text, "Secret that signs these requests: at least 16 characters.") {
            $0.feedback.secret = Secret($1.text)
        },
        Setting(
            "feedback.max_removed_share", .percentage,
            "Maximum share of its audience that one notification may remove because of invalid tokens; further removals are held "
                + "(`pushhost pruned held`). Audiences of fewer than 1,000 devices are not limited; 100% turns the limit off.",
            default: "20%", isReloadable: true
        ) { $0.feedback.maxRemovedShare = $1.share },
    ]
}

extension FeedbackSettings {
    /// Settings that are invalid or incomplete.
    var contradictions: [String] {
        guard let webhook else { return [] }
        var faults: [String] = []
        if address == nil {
            faults.append("feedback.webhook: invalid address \"\(webhook)\"; use https:// (http:// only on this machine)")
        }
        if (secret?.reveal().utf8.count ?? 0) < Self.minimumSecretLength {
            faults.append("feedback.secret: feedback.webhook needs a secret of at least \(Self.minimumSecretLength) characters")
        }
        return faults
    }

    private var address: WebAddress? {
        guard let address = webhook.flatMap({ WebAddress($0) }) else { return nil }
        return address.scheme == "https" || Self.isHere(address) ? address : nil
    }

    /// The webhook's scheme and authority, without its path; nil without a webhook.
    package var origin: String? { address.map { "\($0.scheme)://\($0.authority)" } }

    private static func isHere(_ address: WebAddress) -> Bool { ["localhost", "127.0.0.1"].contains(address.host) }

    /// The webhook's settings; nil without a webhook. An address on this machine is allowed, even if private addresses are rejected
    /// elsewhere.
    package func webhook(allowsPrivate: Bool) -> (settings: PrunedWebhook.Settings, network: PublicNetwork?)? {
        guard let address, let secret else { return nil }
        let isAllowed = allowsPrivate || Self.isHere(address)
        return (PrunedWebhook.Settings(address: address, secret: secret), isAllowed ? nil : PublicNetwork(clock: SystemClock()))
    }
}
