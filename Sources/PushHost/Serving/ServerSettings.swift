import PushCore
import Simulators
import WebAPI

/// Everything that `pushhost serve` can be told.
struct ServerSettings: Sendable, Equatable {
    enum LogFormat: String, Sendable, CaseIterable { case text, json }

    var host = "127.0.0.1"
    /// Plain HTTP; nil for none, 0 for any free one.
    var port: Int? = 8080
    /// TLS with HTTP/2 and HTTP/1.1; nil for none, 0 for any free one.
    var tlsPort: Int? = 8443
    var publicURL: String?
    var certificate: String?
    var key: String?
    /// Names beyond localhost for the certificate that the server makes itself.
    var certificateNames: [String] = []
    var data = "pushhost-data"
    /// The key file; nil for that of the data folder.
    var keyFile: String?
    /// Made at the first start.
    var hub = "hub"
    /// What hubs accept from their clients.
    var clients = ClientPolicy()
    /// The folder of plugins.
    var plugins = "plugins"
    /// What it runs by itself.
    var flows: [ServedFlow] = []
    /// Runs of flows at a time.
    var concurrentFlows = 16
    var keepRuns: Duration = .seconds(30 * 86_400)
    /// Where the simulated push services listen, for hubs without credentials of their own.
    var simulators: String?
    var requestsPerMinute: Int?
    var testSendsPerMinute: Int? = 10
    /// Open connections of all ports together.
    var connections = 8192
    /// For a handshake and a head.
    var headTimeout: Duration = .seconds(15)
    var bodyTimeout: Duration = .seconds(30)
    /// Bytes that may wait for clients.
    var buffers = ClientBuffers.Limits()
    /// Between two requests of a connection.
    var idleTimeout: Duration = .seconds(75)
    /// Whether pushes and jobs may go to addresses that are not public.
    var allowsPrivate = false
    var keepNotifications: Duration = .seconds(30 * 86_400)
    var keepDepartures: Duration = .seconds(90 * 86_400)
    var keepSecurePayloads: Duration = .seconds(7 * 86_400)
    var backend = BackendSettings()
    var apns = APNsFiles()
    var fcm = FCMFiles()
    var wns = WNSFiles()
    var webPush = WebPushFiles()
    var delivery = DeliverySettings()
    var feedback = FeedbackSettings()
    var sendGuard = GuardSettings()
    var jobFolders: [String] = []
    var jobHosts: [String] = []
    var logFormat = LogFormat.text
    var logLevel = "info"
    var concurrentNotifications = 64
    var lab: Bool?
    /// 0 for any free one.
    var labPort: Int?
    /// Nil for no limit.
    var labPhones: Int? = PhoneLab.standardAdoptionLimit
    /// Of its services' own protocols.
    var labTLSPort: Int?
    /// Drawn at the start for nil.
    var labKey: Secret?
    var labTokenRules = APNsTokenRules()

    /// Whether simulated push services and phones run in the server itself; naming a port for them is asking for them.
    var isLab: Bool { lab ?? (labPort != nil) }
}

extension ServerSettings {
    /// Every setting, in the order in which it is explained.
    static let all: [Setting] =
        [
            Setting(
                "listen.host", .text, "Address to listen on. Anything but 127.0.0.1, ::1 and localhost is reached from other machines.",
                default: "127.0.0.1"
            ) { $0.host = $1.text },
            Setting("listen.port", .port, "Port for plain HTTP; 0 takes a free one.", default: "8080") { $0.port = $1.port },
            Setting("listen.tls_port", .port, "Port for TLS, with HTTP/2 and HTTP/1.1; 0 takes a free one.", default: "8443") {
                $0.tlsPort = $1.port
            },
            Setting("listen.public_url", .url, "What clients know the server by, where a proxy stands before it.") {
                $0.publicURL = $1.text
            },
            Setting("tls.certificate", .text, "Certificate chain in PEM. Without one the server makes its own for development.") {
                $0.certificate = $1.text
            },
            Setting("tls.key", .text, "Its private key in PEM.") { $0.key = $1.text },
            Setting("tls.names", .list, "Names for the certificate that the server makes, beside localhost, 127.0.0.1 and ::1.") {
                $0.certificateNames = $1.list
            },
            Setting("data", .text, "Folder for everything that is kept; made if it does not exist.", default: "pushhost-data") {
                $0.data = $1.text
            },
            Setting(
                "key.file", .text,
                "File of the key that seals the secrets in the database, outside of the data folder; made with the folder. `payload.key` "
                    + "of the data folder by default."
            ) { $0.keyFile = $1.text },
            Setting("hub", .text, "Hub that is made at the first start.", default: "hub") { $0.hub = $1.text },
            Setting("plugins", .text, "Folder of plugins; those that its plugins.yaml lists are live.", default: "plugins") {
                $0.plugins = $1.text
            },
            Setting(
                "simulators", .url,
                "Where `pushhost simulate` listens. Hubs without credentials for a push service send there."
            ) { $0.simulators = $1.text },
            Setting(
                "lab", .flag,
                "Simulated push services with their phones in the server itself; every hub sends there and nowhere else. Off by default."
            ) { $0.lab = $1.flag },
            Setting("lab.port", .port, "Port of the lab on 127.0.0.1; 0 takes a free one. Naming one switches the lab on.") {
                $0.labPort = $1.port
            },
            Setting(
                "lab.tls_port", .port,
                "Port of the lab's services on 127.0.0.1 for any client: TLS, with HTTP/2 and HTTP/1.1; 0 takes a free one.",
                default: "none"
            ) { $0.labTLSPort = $1.port },
            Setting("lab.key", .text, "Key to the lab, for programs that use it. By default another one at every start.") {
                $0.labKey = Secret($1.text)
            },
            Setting(
                "lab.phones", .count,
                "How many handles that the lab does not know may become simulated phones; pushes to further ones are refused with LabFull. "
                    + "`none` for no limit but the memory.", default: "1000000"
            ) { $0.labPhones = $1.count },
            Setting(
                "lab.token_updates", .count,
                "Number of different APNs provider tokens of a team that the lab accepts within 20 minutes; `none` for no limit.",
                default: "3"
            ) { $0.labTokenRules.updatesPerTwentyMinutes = $1.count ?? .max },
            Setting(
                "lab.strict", .flag,
                "Refuse APNs provider tokens beyond Apple's page and RFC 7518 in the lab: an ASN.1 DER signature, an `iat` with a "
                    + "fraction or as a text. Off by default."
            ) { $0.labTokenRules.isStrict = $1.flag },
            Setting("limits.requests_per_minute", .count, "Requests a minute for each key; none by default.", isLive: true) {
                $0.requestsPerMinute = $1.count
            },
            Setting(
                "limits.test_sends_per_minute", .count, "Test sends a minute for each hub; `none` for no limit.", default: "10",
                isLive: true
            ) {
                $0.testSendsPerMinute = $1.count
            },
            Setting(
                "limits.connections", .count,
                "Connections that are open at a time, of all ports together. Beyond them the one that has been idle the longest is closed.",
                default: "8192"
            ) { $0.connections = $1.count ?? .max },
            Setting("limits.head", .duration, "How long a connection may take for its handshake and the head of a request.", default: "15s")
            {
                $0.headTimeout = $1.duration
            },
            Setting("limits.body", .duration, "How long the body of a request may take.", default: "30s") { $0.bodyTimeout = $1.duration },
            Setting("limits.idle", .duration, "How long a connection may stay open without a request.", default: "75s") {
                $0.idleTimeout = $1.duration
            },
            Setting(
                "limits.concurrent_notifications", .count, "Notifications of one hub that are delivered at a time on one platform.",
                default: "64", isLive: true
            ) {
                $0.concurrentNotifications = $1.count ?? 64
            },
            Setting(
                "limits.concurrent_flows", .count, "Runs of flows at a time, of all flows together; each flow has a limit of its own.",
                default: "16", isLive: true
            ) { $0.concurrentFlows = $1.count ?? .max },
            Setting(
                "network.allow_private", .flag,
                "Whether push services and hosts of jobs may have loopback, private and link-local addresses.", default: "off"
            ) { $0.allowsPrivate = $1.flag },
            Setting(
                "keep.notifications", .duration, "How long notifications and their outcomes are kept after their end.", default: "30d",
                isLive: true
            ) { $0.keepNotifications = $1.duration },
            Setting(
                "keep.runs", .duration, "How long runs of flows are kept after their end, with their steps and logs.", default: "30d",
                isLive: true
            ) { $0.keepRuns = $1.duration },
            Setting(
                "keep.departures", .duration, "How long it is remembered that a registration id is gone (410).", default: "90d",
                isLive: true
            ) { $0.keepDepartures = $1.duration },
            Setting(
                "keep.secure_payloads", .duration,
                "How long after its expiration it is remembered how a secure payload ended, and who tried to read it.", default: "7d",
                isLive: true
            ) { $0.keepSecurePayloads = $1.duration },
            Setting("jobs.folders", .list, "Folders that import and export jobs may read and write (`file:`).", isLive: true) {
                $0.jobFolders = $1.list
            },
            Setting("jobs.hosts", .list, "Hosts that import and export jobs may read and write (`http:`).", isLive: true) {
                $0.jobHosts = $1.list
            },
            Setting("log.format", .choice(LogFormat.allCases.map(\.rawValue)), "How the log is written.", default: "text", isLive: true) {
                $0.logFormat = LogFormat(rawValue: $1.text) ?? .text
            },
            Setting(
                "log.level", .choice(["debug", "info", "notice", "warning", "error"]), "The least that is logged.", default: "info",
                isLive: true
            ) { $0.logLevel = $1.text },
        ] + bufferSettings + apnsSettings + credentialSettings + backendSettings + deliverySettings + serviceSettings + feedbackSettings
        + guardSettings + clientSettings
}
