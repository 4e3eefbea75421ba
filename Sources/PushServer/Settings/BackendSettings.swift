import PushModel
import WebAPI

/// Settings of the app backend.
package struct BackendSettings: Sendable, Equatable {
    /// The hub of paths that name none; nil for the server's first hub.
    package var hub: String?
    var variant = TutorialVariant.notifyUsers
    /// Whether a user name is its own password, for names without an account.
    package var isTutorialMode = false
    var issuer: String?
    var audience: String?
    /// Location of the issuer's public keys: a file or an address.
    package var keys: String?
    var usernameClaim = "sub"
    var clockSkew: Duration = .seconds(60)
}

extension ServerSettings {
    static let backendSettings: [Setting] = [
        Setting("backend.hub", .text, "Hub of the app backend for paths under `/api` that name none; by default the hub of `hub`.") {
            $0.backend.hub = $1.text
        },
        Setting(
            "backend.variant", .choice(TutorialVariant.allCases.map(\.rawValue)),
            "Tutorial whose backend answers paths that do not name one.", default: TutorialVariant.notifyUsers.rawValue
        ) { $0.backend.variant = TutorialVariant(rawValue: $1.text) ?? .notifyUsers },
        Setting(
            "backend.tutorial_mode", .flag,
            "Whether a user name is also the password, as in the tutorials, for names without an account. Never for real users.",
            default: "off"
        ) { $0.backend.isTutorialMode = $1.flag },
        Setting("backend.jwt.issuer", .text, "Issuer of the tokens (JWT) that the app backend accepts: `iss`.") {
            $0.backend.issuer = $1.text
        },
        Setting("backend.jwt.audience", .text, "Audience that its tokens must have: `aud`.") { $0.backend.audience = $1.text },
        Setting(
            "backend.jwt.keys", .text,
            "Its public keys (JWKS): a file or an https:// address; http:// only on this machine."
        ) { $0.backend.keys = $1.text },
        Setting("backend.jwt.username_claim", .text, "Claim that contains the user name.", default: "sub") {
            $0.backend.usernameClaim = $1.text
        },
        Setting(
            "backend.jwt.clock_skew", .duration, "Maximum difference between the clocks of the issuer and the server.", default: "60s"
        ) { $0.backend.clockSkew = $1.duration },
    ]
}

extension BackendSettings {
    /// The warning for a missing hub in `backend.hub`. The server starts anyway, because hubs can be created while it runs.
    package static func absence(of hub: String, among names: [String]) -> (finding: String, hint: String) {
        (
            "backend.hub: unknown hub \"\(hub)\"; /api answers 404 until it exists",
            nearest(hub, in: names).map { "did you mean \"\($0)\"?" } ?? "create it with pushhost hub create \(hub)"
        )
    }

    /// Settings that are incomplete or contradict each other.
    var contradictions: [String] {
        let given = [issuer, audience, keys].compactMap { $0 }
        var faults: [String] = []
        if !given.isEmpty, given.count < 3 {
            faults.append("backend.jwt.issuer, backend.jwt.audience and backend.jwt.keys belong together: set all or none")
        }
        if let keys, IssuerKeySource(keys) == nil {
            faults.append("backend.jwt.keys: invalid value \"\(keys)\"; use a file or an https:// address (http:// only on this machine)")
        }
        return faults
    }
}
