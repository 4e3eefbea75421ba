import PushCore
import WebAPI

/// What the app backend is told.
struct BackendSettings: Sendable, Equatable {
    /// Of paths that name none; nil for the server's first hub.
    var hub: String?
    var variant = BackendVariant.notifyUsers
    /// Whether a user name is its own password, for names without an account.
    var isTutorialMode = false
    var issuer: String?
    var audience: String?
    /// The issuer's keys: a file, or an address.
    var keys: String?
    var usernameClaim = "sub"
    var clockSkew: Duration = .seconds(60)
}

extension ServerSettings {
    static let backendSettings: [Setting] = [
        Setting("backend.hub", .text, "Hub of the app backend under `/api`, where the path names none; that of `hub` by default.") {
            $0.backend.hub = $1.text
        },
        Setting(
            "backend.variant", .choice(BackendVariant.allCases.map(\.rawValue)),
            "Which of the tutorials' backends a path is that does not say.", default: BackendVariant.notifyUsers.rawValue
        ) { $0.backend.variant = BackendVariant(rawValue: $1.text) ?? .notifyUsers },
        Setting(
            "backend.tutorial_mode", .flag,
            "Whether a user name is its own password, as in the tutorials, for names without an account. Never for real users.",
            default: "off"
        ) { $0.backend.isTutorialMode = $1.flag },
        Setting("backend.jwt.issuer", .text, "Issuer whose tokens (JWT) the app backend takes: `iss`.") { $0.backend.issuer = $1.text },
        Setting("backend.jwt.audience", .text, "What its tokens must be for: `aud`.") { $0.backend.audience = $1.text },
        Setting(
            "backend.jwt.keys", .text,
            "Where its public keys are (JWKS): a file, or an https:// address; http:// only on this machine."
        ) { $0.backend.keys = $1.text },
        Setting("backend.jwt.username_claim", .text, "The claim that is the user name.", default: "sub") {
            $0.backend.usernameClaim = $1.text
        },
        Setting("backend.jwt.clock_skew", .duration, "By how much the issuer's clock may differ.", default: "60s") {
            $0.backend.clockSkew = $1.duration
        },
    ]
}

extension BackendSettings {
    /// That the hub of the setting is missing: no reason not to start, for hubs are made while a server runs.
    static func absence(of hub: String, among names: [String]) -> (finding: String, hint: String) {
        (
            "backend.hub: there is no hub \"\(hub)\", and /api answers 404 as long as there is none",
            nearest(hub, in: names).map { "did you mean \"\($0)\"?" } ?? "pushhost hub create \(hub) makes it"
        )
    }

    /// What does not go together.
    var contradictions: [String] {
        let given = [issuer, audience, keys].compactMap { $0 }
        var faults: [String] = []
        if !given.isEmpty, given.count < 3 {
            faults.append("backend.jwt.issuer, backend.jwt.audience and backend.jwt.keys belong together: give all or none")
        }
        if let keys, IssuerKeySource(keys) == nil {
            faults.append("backend.jwt.keys: \"\(keys)\" does not fit: it takes a file, or https://; http:// only for this machine")
        }
        return faults
    }
}
