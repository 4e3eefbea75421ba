import Delivery
import HubWire
import PushHub
import PushLab
import PushModel
import PushRuntime
import PushServer
import Simulators
import Synchronization
import WebAPI

/// Prints the startup banner: addresses and connection strings, the data folder, and who can reach the server.
final class StartupBanner: Sendable {
    private let settings: ServerSettings
    private let server: RunningServer
    private let authority: String?
    private let lab: Lab?
    private let reveal: Bool
    private let output: Output
    private let whenShown: @Sendable () -> Void
    private let ports: Mutex<Ports>

    private struct Ports {
        var listening = ListeningPorts()
        var missing: Int
    }

    init(
        settings: ServerSettings, server: RunningServer, authority: String?, lab: Lab?, reveal: Bool, output: Output,
        whenShown: @escaping @Sendable () -> Void
    ) {
        self.settings = settings
        self.server = server
        self.authority = authority
        self.lab = lab
        self.reveal = reveal
        self.output = output
        self.whenShown = whenShown
        ports = Mutex(Ports(missing: 1 + (settings.port == nil ? 0 : 1) + (settings.tlsPort == nil ? 0 : 1)))
    }

    func listeningForCommands() { show { _ in } }
    func listening(port: Int) { show { $0.http = port } }
    func listening(tlsPort: Int) { show { $0.tls = tlsPort } }

    /// Records an open listener; prints the banner after the last one.
    private func show(_ note: (inout ListeningPorts) -> Void) {
        let all = ports.withLock { ports -> ListeningPorts? in
            note(&ports.listening)
            ports.missing -= 1
            return ports.missing == 0 ? ports.listening : nil
        }
        guard let all else { return }
        for line in lines(all) { output.line(line.printable) }
        output.flush()
        whenShown()
    }

    private func lines(_ ports: ListeningPorts) -> [String] {
        let name = settings.clientName
        let plain = ports.http.map { "\(name):\($0)" }
        let secure = ports.tls.map { "\(name):\($0)" }
        var lines = ["PushHost is running"]
        if let plain { lines.append("  http      http://\(plain)") }
        if let secure { lines.append("  https     https://\(secure)   HTTP/2 and HTTP/1.1") }
        lines.append("  access    \(isLocal ? "this machine only" : "every machine that can reach \(settings.host)")")
        lines.append("  data      \(settings.data)")
        let simulators = settings.simulators.map { "simulated push services at \($0), except for hubs with credentials" }
        lines.append("  sends to  \(lab == nil ? simulators ?? Self.services : "simulated push services (lab)")")
        lines.append("  lab       \(lab.map { "on, at \($0.address)" } ?? "off")")
        if let port = lab?.listener?.port { lines.append("  lab TLS   https://localhost:\(port)") }
        if let lab { lines.append("  lab key   \(reveal ? lab.key.reveal() : "***")") }
        if settings.backend.isTutorialMode { lines.append("  tutorial  on: a user name is also the password; never for real users") }
        lines.append("")
        let url = settings.clientURL(ports) ?? "https://\(name)"
        for hub in server.namespace.hubs.prefix(5) {
            lines.append("hub \(hub.record.name)")
            lines += hub.record.description.rules.prefix(2).map { self.line($0, url) }
        }
        if let owner = server.namespace.rules.first(where: { $0.rights.contains(.manage) }) {
            lines += ["server key (all hubs)", line(owner, url)]
        }
        if !reveal { lines.append("  start with --reveal to see the keys") }
        if let secure, let authority {
            lines += [
                "", "Clients over TLS must trust \(authority)",
                "  curl       --cacert \(authority) https://\(secure)/health/live",
                "  Python     REQUESTS_CA_BUNDLE=\(authority)   (requests)   or SSL_CERT_FILE",
                "  Node.js    NODE_EXTRA_CA_CERTS=\(authority)",
                "  Java       keytool -importcert -alias pushhost -file \(authority) -keystore pushhost.jks",
                "  .NET, Go   SSL_CERT_FILE=\(authority)",
                "  iOS, macOS open the file, install the profile, trust it in Settings › General › About",
            ]
        }
        lines += ["", "Press Ctrl-C to stop."]
        return lines
    }

    private static let services = "the push services that hubs have credentials for"

    private func line(_ rule: AuthorizationRule, _ url: String) -> String {
        let string = ConnectionString(address: url, keyName: rule.name, key: rule.primaryKey)
        return "  \(rule.rightsText.padded(to: 8))\(reveal ? string.reveal() : string.masked)"
    }

    private var isLocal: Bool { settings.host == "localhost" || IPAddress(settings.host)?.isLoopback == true }
}

extension AuthorizationRule {
    fileprivate var rightsText: String { rights.contains(.manage) ? "full" : rights.contains(.send) ? "send" : "listen" }
}
