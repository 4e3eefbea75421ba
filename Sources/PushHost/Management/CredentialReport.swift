import PushModel
import PushRuntime
import PushServer
import WebAPI

/// Formats a hub's push credential as text.
struct CredentialReport {
    let credential: HubCredential

    init?(_ json: JSON) {
        guard let credential = HubCredential(json) else { return nil }
        self.credential = credential
    }

    var service: String { credential.platform.displayName }

    /// One line, such as `APNs: token for com.example.app, production, to api.push.apple.com:443, from the settings (apns.key)`.
    var line: String { "\(service): \(text)" }

    private var text: String {
        var parts = [credential.words].filter { !$0.isEmpty }
        if let address = credential.address { parts.append("to \(address)") }
        if let end = credential.expires { parts.append("valid until \(end)") }
        parts.append(credential.setting.map { "from the settings (\($0))" } ?? "the hub's own")
        return parts.joined(separator: ", ") + (credential.fault.map { "; \($0)" } ?? "")
    }

    /// One or more lines. A VAPID public key has a line of its own, so that it can be copied.
    func lines(_ palette: Palette) -> [String] {
        guard let key = credential.publicKey else { return ["\(service.padded(to: 10))\(text)".printable] }
        let source = credential.setting.map { "from the settings (\($0))" } ?? "the hub's own"
        return [
            "\(service.padded(to: 10))VAPID key of \(credential.subject ?? ""), \(source)\(credential.fault.map { "; \($0)" } ?? "")"
                .printable,
            "  applicationServerKey for web apps:", "  \(key.printable)",
        ]
    }
}

/// Formats the push services' verdicts on a hub's credentials.
struct CredentialCheckReport {
    let items: [JSON]

    var isGood: Bool { items.allSatisfy { $0["ok"]?.bool == true } }

    func lines(_ palette: Palette) -> [String] {
        items.flatMap { item -> [String] in
            guard let credential = item["credential"].flatMap({ CredentialReport($0) }) else { return [] }
            let mark = item["ok"]?.bool == true ? palette.green("✓") : palette.red("✗")
            var parts = [credential.credential.words].filter { !$0.isEmpty }
            if let end = credential.credential.expires { parts.append("valid until \(end.iso8601(fraction: false))") }
            let asked = item["asked"]?.string.map { "\($0): " } ?? ""
            parts.append("\(asked)\(item["finding"]?.string ?? "")")
            let hint = item["hint"]?.string.map { ["    help      \($0.printable)"] } ?? []
            return ["\(mark) \(credential.service.padded(to: 10))\(parts.joined(separator: " · ").printable)"] + hint
        }
    }
}
