package import PushModel
package import Simulators
import WebAPI

/// The settings of `pushhost serve`.
package struct ServerSettings: Sendable, Equatable {
    package enum LogFormat: String, Sendable, CaseIterable { case text, json }

    package var host = "127.0.0.1"
    /// Port for plain HTTP; nil for none, 0 for any free port.
    package var port: Int? = 8080
    /// Port for TLS with HTTP/2 and HTTP/1.1; nil for none, 0 for any free port.
    package var tlsPort: Int? = 8443
    package var publicURL: String?
    package var certificate: String?
    var key: String?
    /// Additional names in the development certificate, besides localhost.
    var certificateNames: [String] = []
    package var data = "pushhost-data"
    /// Path of the key file; nil for the one in the data folder.
    var keyFile: String?
    /// The hub that is created at the first start.
    package var hub = "hub"
    /// What hubs accept from clients.
    var clients = ClientPolicy()
    /// Path of the plugin folder.
    package var plugins = "plugins"
    /// The flows that the server runs.
    var flows: [ServedFlow] = []
    /// Maximum number of concurrent runs of all flows.
    var concurrentFlows = 16
    var keepRuns: Duration = .seconds(30 * 86_400)
    /// Address of the push service simulators, for hubs without their own credentials.
    package var simulators: String?
    var requestsPerMinute: Int?
    var testSendsPerMinute: Int? = 10
    /// Maximum number of open connections of all ports.
    var connections = 8192
    /// Timeout for the TLS handshake and for the head of a request.
    var headTimeout: Duration = .seconds(15)
    var bodyTimeout: Duration = .seconds(30)
    /// Limits of buffered bytes for clients.
    var buffers = ClientBuffers.Limits()
    /// Timeout between two requests on a connection.
    var idleTimeout: Duration = .seconds(75)
    /// Whether pushes and jobs may use private addresses.
    package var allowsPrivate = false
    var keepNotifications: Duration = .seconds(30 * 86_400)
    var tombstoneRetention: Duration = .seconds(90 * 86_400)
    var keepSecurePayloads: Duration = .seconds(7 * 86_400)
    package var backend = BackendSettings()
    package var apns = APNsFiles()
    var fcm = FCMFiles()
    var wns = WNSFiles()
    var webPush = WebPushFiles()
    package var delivery = DeliverySettings()
    package var feedback = FeedbackSettings()
    var sendGuard = GuardSettings()
    var jobFolders: [String] = []
    var jobHosts: [String] = []
    var logFormat = LogFormat.text
    var logLevel = "info"
    var concurrentNotifications = 64
    var lab: Bool?
    /// Port of the lab; 0 for any free port.
    package var labPort: Int?
    /// Maximum number of handles that become simulated phones; nil for no limit.
    package var labPhones: Int? = HandleAdoption.defaultLimit
    /// Port of the simulated services' own protocols.
    package var labTLSPort: Int?
    /// Key of the lab; nil to generate one at each start.
    package var labKey: Secret?

    package var labTokenRules = APNsTokenRules()

    /// The default settings.
    package init() {}

    /// Whether simulated push services and phones run in the server. Setting a port for them implies it.
    package var isLab: Bool { lab ?? (labPort != nil) }
}

extension ServerSettings {
    /// All settings, in the order of the documentation.
    package static let all: [Setting] =
        [
            Setting(
                "listen.host", .text, "Address to listen on. With any other than 127.0.0.1, ::1 and localhost, other machines can connect.",
                default: "127.0.0.1"
            ) { $0.host = $1.text },
            Setting("listen.port", .port, "Port for plain HTTP; 0 picks a free one.", default: "8080") { $0.port = $1.port },
            Setting("listen.tls_port", .port, "Port for TLS, with HTTP/2 and HTTP/1.1; 0 picks a free one.", default: "8443") {
                $0.tlsPort = $1.port
            },
            Setting("listen.public_url", .url, "Address of the server as clients see it, behind a proxy.") {
                $0.publicURL = $1.text
            },
            Setting("tls.certificate", .text, "Certificate chain in PEM. Without one the server creates a development certificate.") {
                $0.certificate = $1.text
            },
            Setting("tls.key", .text, "Its private key in PEM.") { $0.key = $1.text },
            Setting("tls.names", .list, "Names in the development certificate, in addition to localhost, 127.0.0.1 and ::1.") {
                $0.certificateNames = $1.list
            },
            Setting("data", .text, "Folder for all data; created if it does not exist.", default: "pushhost-data") {
                $0.data = $1.text
            },
            Setting(
                "key.file", .text,
                "File of the key that encrypts the secrets in the database, outside the data folder; created with the folder. "
                    + "`payload.key` in the data folder by default."
            ) { $0.keyFile = $1.text },
            Setting("hub", .text, "Hub that is created at the first start.", default: "hub") { $0.hub = $1.text },
            Setting("plugins", .text, "Folder of plugins; the plugins listed in its plugins.yaml are live.", default: "plugins") {
                $0.plugins = $1.text
            },
            Setting(
                "simulators", .url,
                "Address of `pushhost simulate`. Hubs without credentials for a push service send there."
            ) { $0.simulators = $1.text },
            Setting(
                "lab", .flag,
                "Runs simulated push services and phones in the server; every hub sends only there. Off by default."
            ) { $0.lab = $1.flag },
            Setting("lab.port", .port, "Port of the lab on 127.0.0.1; 0 picks a free one. Setting it switches the lab on.") {
                $0.labPort = $1.port
            },
            Setting(
                "lab.tls_port", .port,
                "Port of the lab's services on 127.0.0.1 for any client: TLS, with HTTP/2 and HTTP/1.1; 0 picks a free one.",
                default: "none"
            ) { $0.labTLSPort = $1.port },
            Setting("lab.key", .text, "Key of the lab, for programs that use it. By default a new one at every start.") {
                $0.labKey = Secret($1.text)
            },
            Setting(
                "lab.phones", .count,
                "Maximum number of unknown handles that become simulated phones; pushes to further ones are rejected with LabFull. "
                    + "`none` for no limit other than memory.", default: "1000000"
            ) { $0.labPhones = $1.count },
            Setting(
                "lab.token_updates", .count,
                "Number of different APNs provider tokens of a team that the lab accepts within 20 minutes; `none` for no limit.",
                default: "3"
            ) { $0.labTokenRules.updatesPerTwentyMinutes = $1.count ?? .max },
            Setting(
                "lab.strict", .flag,
                "Reject APNs provider tokens that Apple's documentation and RFC 7518 do not allow, in the lab: an ASN.1 DER signature, "
                    + "an `iat` with a fraction or as a string. Off by default."
            ) { $0.labTokenRules.isStrict = $1.flag },
            Setting("limits.requests_per_minute", .count, "Requests per minute and key; no limit by default.", isReloadable: true) {
                $0.requestsPerMinute = $1.count
            },
            Setting(
                "limits.test_sends_per_minute", .count, "Test sends per minute and hub; `none` for no limit.", default: "10",
                isReloadable: true
            ) {
                $0.testSendsPerMinute = $1.count
            },
            Setting(
                "limits.connections", .count,
                "Maximum number of open connections on all ports, including those of a lab. Beyond it, the connection that has been idle "
                    + "longest is closed.",
                default: "8192"
            ) { $0.connections = $1.count ?? .max },
            Setting("limits.head", .duration, "Timeout for the handshake of a connection and for the head of a request.", default: "15s") {
                $0.headTimeout = $1.duration
            },
            Setting("limits.body", .duration, "Timeout for the body of a request.", default: "30s") { $0.bodyTimeout = $1.duration },
            Setting("limits.idle", .duration, "Timeout for a connection without a request.", default: "75s") {
                $0.idleTimeout = $1.duration
            },
            Setting(
                "limits.concurrent_notifications", .count,
                "Maximum number of batches of a hub in flight to each push service; a batch has at most 500 devices of one notification. "
                    + "Notifications to 10,000 devices or more and those with a pace do not count. At most this many with a pace are "
                    + "delivered at a time; `none` for no limit.",
                default: "64", isReloadable: true
            ) { $0.concurrentNotifications = $1.count ?? .max },
            Setting(
                "limits.concurrent_flows", .count, "Maximum number of concurrent runs of all flows; each flow also has its own limit.",
                default: "16", isReloadable: true
            ) { $0.concurrentFlows = $1.count ?? .max },
            Setting(
                "network.allow_private", .flag,
                "Whether push services and hosts of jobs may have loopback, private and link-local addresses.", default: "off"
            ) { $0.allowsPrivate = $1.flag },
            Setting(
                "keep.notifications", .duration, "How long notifications and their outcomes are stored after their end.", default: "30d",
                isReloadable: true
            ) { $0.keepNotifications = $1.duration },
            Setting(
                "keep.runs", .duration, "How long runs of flows are stored after their end, with their steps and logs.", default: "30d",
                isReloadable: true
            ) { $0.keepRuns = $1.duration },
            Setting(
                "keep.departures", .duration, "How long a deleted registration id answers 410.", default: "90d",
                isReloadable: true
            ) { $0.tombstoneRetention = $1.duration },
            Setting(
                "keep.secure_payloads", .duration,
                "How long the result and the access log of a secure payload are stored after its expiration.", default: "7d",
                isReloadable: true
            ) { $0.keepSecurePayloads = $1.duration },
            Setting("jobs.folders", .list, "Folders that import and export jobs may read and write (`file:`).", isReloadable: true) {
                $0.jobFolders = $1.list
            },
            Setting("jobs.hosts", .list, "Hosts that import and export jobs may read and write (`http:`).", isReloadable: true) {
                $0.jobHosts = $1.list
            },
            Setting("log.format", .choice(LogFormat.allCases.map(\.rawValue)), "Format of the log.", default: "text", isReloadable: true) {
                $0.logFormat = LogFormat(rawValue: $1.text) ?? .text
            },
            Setting(
                "log.level", .choice(["debug", "info", "notice", "warning", "error"]), "Minimum log level.", default: "info",
                isReloadable: true
            ) { $0.logLevel = $1.text },
        ] + bufferSettings + apnsSettings + credentialSettings + backendSettings + deliverySettings + serviceSettings + feedbackSettings
        + guardSettings + clientSettings
}
