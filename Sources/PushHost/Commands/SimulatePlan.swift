import PushModel
import Simulators

/// The options of `pushhost simulate`, validated.
struct SimulatePlan: Sendable {
    /// The TLS port; nil for no TLS.
    var port: UInt16?
    var controlPort: UInt16
    var selection: ServiceSelection
    /// Number of phones that have an inbox; later phones are only counted. Nil if all phones have one.
    var inboxes: Int?
    /// Rules for APNs provider tokens; nil for the defaults.
    var tokenRules: APNsTokenRules?
    var threads: Int
    var seed: UInt64
    private var refusals: [(platform: PhonePlatform, order: SimulatedFailureOption)] = []
    private var retryAfter: Int?
    private var connections: ConnectionFaults.Plan

    /// Throws `usage.value` for options that contradict each other.
    init(_ options: SimulateOptions, serving platforms: Set<PhonePlatform>) throws(PushError) {
        port = options.port.number
        controlPort = options.controlPort
        selection = ServiceSelection(platforms)
        selection.authority = options.public
        threads = options.threads
        seed = options.faults.seed
        retryAfter = options.faults.retryAfter
        connections = options.faults.connections
        guard port != nil || platforms.count > 1 else {
            throw PushError(
                "usage.value", "--port none leaves no port for the service", hint: "for plain HTTP, use pushhost simulate --port none")
        }
        guard port != nil || (selection.authority == nil && connections == ConnectionFaults.Plan()) else {
            throw PushError("usage.value", "--public and connection faults need the TLS port", hint: "remove --port none")
        }
        for text in options.faults.fail {
            let order = try SimulatedFailureOption(text)
            guard let platform = order.platform ?? (platforms.count == 1 ? platforms.first : nil) else {
                throw PushError(
                    "usage.value", "--fail \(text): the push service is missing",
                    hint: "write SERVICE:REASON, such as fcm:UNAVAILABLE; see pushhost simulate --help")
            }
            guard platforms.contains(platform) else {
                throw PushError(
                    "usage.value", "--fail \(text): \(command) does not serve \(platform.title)", hint: "it serves only \(title)")
            }
            refusals.append((platform, order))
        }
    }

    /// The host of `--public`, which the certificate must name.
    var publicHost: String? { selection.authority.map { String($0.prefix { $0 != ":" }) } }

    /// The name of the only service, or "push services".
    var title: String {
        guard selection.platforms.count == 1, let platform = selection.platforms.first else { return "push services" }
        return platform.title
    }

    /// The command that starts this simulation.
    var command: String {
        guard selection.platforms.count == 1, let platform = selection.platforms.first else { return "pushhost simulate" }
        return "pushhost simulate \(platform == .browser ? "webpush" : platform.rawValue)"
    }

    /// An example phone for the startup banner, on the only service or on APNs. Same names as on the services' pages.
    var examplePhone: (name: String, platform: String) {
        guard selection.platforms.count == 1, let platform = selection.platforms.first else { return ("ana", PhonePlatform.apns.rawValue) }
        return switch platform {
        case .apns: ("ana", "apns")
        case .fcm: ("bob", "fcm")
        case .wns: ("tom", "wns")
        case .browser: ("eve", "webpush")
        }
    }

    /// The protocols on the TLS port, in words.
    var languages: String {
        switch selection.platforms {
        case [.apns]: "over HTTP/2"
        case [.wns]: "over HTTP/1.1"
        default: "over HTTP/2 and HTTP/1.1"
        }
    }

    /// Sets up the faults and the rules for APNs provider tokens. Throws `usage.argument` for a reason that the service does not have.
    func prepare(_ server: SimulatorServer) throws(PushError) {
        for (platform, order) in refusals {
            let service = server[platform]
            let acceptsRetryAfter = order.isOfTokens ? service.grantAllowsRetryAfter(order.reason) : service.allowsRetryAfter(order.reason)
            let pause = acceptsRetryAfter ? retryAfter : nil
            let isOrdered =
                order.isOfTokens
                ? service.failGrants(order.reason, count: nil, share: order.share, retryAfter: pause)
                : service.fail(order.reason, count: nil, share: order.share, retryAfter: pause)
            guard !isOrdered else { continue }
            let words = order.isOfTokens ? service.grantReasons : service.reasons
            throw PushError(
                "usage.argument", "--fail \(order.text): unknown reason of \(platform.title)",
                hint: words.isEmpty ? "\(platform.title) has no token endpoint" : "use \(words.alternatives)")
        }
        let connections = connections
        server.connections.change { $0 = connections }
        if let tokenRules { server.change(tokenRules) }
    }
}

extension PhonePlatform {
    /// The service's name.
    fileprivate var title: String {
        switch self {
        case .apns: "APNs"
        case .fcm: "FCM"
        case .wns: "WNS"
        case .browser: "Web Push"
        }
    }
}
