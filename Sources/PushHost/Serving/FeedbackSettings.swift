import Delivery
import PushCore

/// What follows when push services call device tokens invalid: who is told, and how many devices one notification may remove.
struct FeedbackSettings: Sendable, Equatable {
    /// Nil for nobody.
    var webhook: String?
    var secret: Secret?
    /// The share of a notification's audience that may be removed, 0 to 1.
    var maxRemovedShare = 0.2

    static let shortestSecret = 16
}

extension ServerSettings {
    static let feedbackSettings: [Setting] = [
        Setting(
            "feedback.webhook", .url,
            "Where devices that left because their handles were dead are told, as JSON: an https:// address; http:// only on this machine."
        ) { $0.feedback.webhook = $1.text },
        Setting("feedback.secret", .text, "With what these requests are signed: 16 characters or more.") {
            $0.feedback.secret = Secret($1.text)
        },
        Setting(
            "feedback.max_removed_share", .percentage,
            "Most devices that one notification may remove for invalid tokens, as a share of its audience; further removals are held "
                + "(`pushhost pruned held`). Audiences of less than 1,000 devices are not limited; 100% turns the limit off.",
            default: "20%", isLive: true
        ) { $0.feedback.maxRemovedShare = $1.share },
    ]
}

extension FeedbackSettings {
    /// What cannot be used, or does not go together.
    var contradictions: [String] {
        guard let webhook else { return [] }
        var faults: [String] = []
        if address == nil {
            faults.append("feedback.webhook: \"\(webhook)\" is no https:// address, and no http:// address of this machine")
        }
        if (secret?.reveal().utf8.count ?? 0) < Self.shortestSecret {
            faults.append("feedback.secret: give one of \(Self.shortestSecret) characters or more, with which feedback.webhook is signed")
        }
        return faults
    }

    private var address: WebAddress? {
        guard let address = webhook.flatMap({ WebAddress($0) }) else { return nil }
        return address.scheme == "https" || Self.isHere(address) ? address : nil
    }

    /// The address without its path; nil for nobody.
    var origin: String? { address.map { "\($0.scheme)://\($0.authority)" } }

    private static func isHere(_ address: WebAddress) -> Bool { ["localhost", "127.0.0.1"].contains(address.host) }

    /// Nil where nobody is to be told. What was written into the settings may be on this machine, whatever else is refused.
    func webhook(allowsPrivate: Bool) -> (settings: PrunedWebhook.Settings, network: PublicNetwork?)? {
        guard let address, let secret else { return nil }
        return (PrunedWebhook.Settings(address: address, secret: secret), allowsPrivate || Self.isHere(address) ? nil : PublicNetwork())
    }
}
