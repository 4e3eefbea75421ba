import ArgumentParser
import PushCore
import Simulators

/// What `pushhost simulate` was asked for, once its options are read.
struct SimulatePlan: Sendable {
    /// Of TLS; nil without.
    var port: UInt16?
    var controlPort: UInt16
    var selection: ServiceSelection
    /// How many phones have an inbox, where others are only counted; nil for all.
    var inboxes: Int?
    /// Of APNs; nil for those that hold without options.
    var tokenRules: APNsTokenRules?
    var threads: Int
    var seed: UInt64
    private var refusals: [(platform: PhonePlatform, order: SimulatedRefusal)] = []
    private var retryAfter: Int?
    private var connections: ConnectionFaults.Plan

    /// Throws for options that contradict each other.
    init(_ options: SimulateOptions, serving platforms: Set<PhonePlatform>) throws {
        port = options.port.number
        controlPort = options.controlPort
        selection = ServiceSelection(platforms)
        selection.authority = options.public
        threads = options.threads
        seed = options.faults.seed
        retryAfter = options.faults.retryAfter
        connections = options.faults.connections
        guard port != nil || platforms.count > 1 else {
            throw ValidationError("--port none leaves no port for the service: the plain one is that of pushhost simulate --port none")
        }
        guard port != nil || (selection.authority == nil && connections == ConnectionFaults.Plan()) else {
            throw ValidationError("--public and the faults of connections are those of the port of TLS: leave out --port none")
        }
        for text in options.faults.fail {
            let order = try SimulatedRefusal(text)
            guard let platform = order.platform ?? (platforms.count == 1 ? platforms.first : nil) else {
                throw ValidationError("--fail \(text): say of which service, such as fcm:\(text)")
            }
            guard platforms.contains(platform) else {
                throw ValidationError("--fail \(text): \(command) serves \(title) alone, and not \(platform.title)")
            }
            refusals.append((platform, order))
        }
    }

    /// The host of `--public`, which the certificate has to name.
    var publicHost: String? { selection.authority.map { String($0.prefix { $0 != ":" }) } }

    /// The service that is served alone, or all of them, in words.
    var title: String {
        guard selection.platforms.count == 1, let platform = selection.platforms.first else { return "push services" }
        return platform.title
    }

    /// What the user has typed for it.
    var command: String {
        guard selection.platforms.count == 1, let platform = selection.platforms.first else { return "pushhost simulate" }
        return "pushhost simulate \(platform == .browser ? "webpush" : platform.rawValue)"
    }

    /// A phone that the service can reach, as the service's page adds it; where all are served, one of APNs.
    var examplePhone: (name: String, platform: String) {
        guard selection.platforms.count == 1, let platform = selection.platforms.first else { return ("ana", PhonePlatform.apns.rawValue) }
        return switch platform {
        case .apns: ("ana", "apns")
        case .fcm: ("bob", "fcm")
        case .wns: ("tom", "wns")
        case .browser: ("eve", "webpush")
        }
    }

    /// What is spoken on the port of TLS, in words.
    var languages: String {
        switch selection.platforms {
        case [.apns]: "over HTTP/2"
        case [.wns]: "over HTTP/1.1"
        default: "over HTTP/2 and HTTP/1.1"
        }
    }

    /// Orders the faults, and sets what APNs asks of provider tokens. Throws `usage.argument` for a reason that the service does not have.
    func prepare(_ server: SimulatorServer) throws(PushError) {
        for (platform, order) in refusals {
            let service = server[platform]
            let mayPause = order.isOfTokens ? service.grantNamesPause(order.reason) : service.namesPause(order.reason)
            let pause = mayPause ? retryAfter : nil
            let isOrdered =
                order.isOfTokens
                ? service.failGrants(order.reason, count: nil, share: order.share, retryAfter: pause)
                : service.fail(order.reason, count: nil, share: order.share, retryAfter: pause)
            guard !isOrdered else { continue }
            let words = order.isOfTokens ? service.grantReasons : service.reasons
            throw PushError(
                "usage.argument", "--fail \(order.text): \(platform.title) does not refuse with that",
                hint: words.isEmpty ? "it has no token endpoint" : "it says \(words.joined(separator: ", "))")
        }
        let connections = connections
        server.connections.change { $0 = connections }
        if let tokenRules { server.change(tokenRules) }
    }
}

extension PhonePlatform {
    /// What its service is called.
    fileprivate var title: String {
        switch self {
        case .apns: "APNs"
        case .fcm: "FCM"
        case .wns: "WNS"
        case .browser: "Web Push"
        }
    }
}
