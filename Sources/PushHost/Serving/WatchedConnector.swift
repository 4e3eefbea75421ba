import Logging
import Metrics
import PushCore
import Synchronization

/// Counts what a push service puts off, and tells the log when it begins to refuse or to fail everything, and when that is over:
/// what waits for it is tried again for half an hour, and nobody would see why.
struct WatchedConnector: Connector {
    /// Which push services take nothing, of all hubs: a hub that is changed gets new connectors.
    final class Outages: Sendable {
        struct Key: Hashable {
            var hub: String
            var platform: Platform
        }

        private let all = Mutex<Set<Key>>([])

        /// Whether that is news.
        fileprivate func note(_ key: Key, isFailing: Bool) -> Bool {
            all.withLock { isFailing ? $0.insert(key).inserted : $0.remove(key) != nil }
        }
    }

    let base: any Connector
    let hub: String
    let outages: Outages
    let log: Logger

    var platforms: Set<Platform> { base.platforms }

    func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let verdicts = await base.deliver(batch)
        // Who is told to stop has no verdict on the service.
        guard !Task.isCancelled, let first = verdicts.first else { return verdicts }
        let putOff = verdicts.count { if case .transient = $0 { true } else { false } }
        if putOff > 0 {
            Counter(
                label: "pushhost_deliveries_put_off_total", dimensions: [("hub", hub), ("platform", batch.platform.rawValue)]
            ).increment(by: putOff)
        }
        let isFailing = verdicts.allSatisfy(\.blamesService)
        // Of what nobody knows, and of one device that gets too much, nothing follows.
        guard isFailing || verdicts.contains(where: \.showsService),
            outages.note(Outages.Key(hub: hub, platform: batch.platform), isFailing: isFailing)
        else { return verdicts }
        let name = "the hub \(hub): \(batch.platform.displayName)"
        if isFailing {
            log.warning("\(name) takes nothing: \(first.why)")
        } else {
            log.notice("\(name) takes deliveries again")
        }
        return verdicts
    }
}

extension Verdict {
    private static let faults: Set<OutcomeName> = [
        .invalidCredentials, .pnsInterfaceError, .pnsServerError, .pnsUnavailable, .pnsUnreachable,
    ]

    /// Whether it is the service that fails, or who asks it, and not the device.
    fileprivate var blamesService: Bool {
        switch self {
        case .transient(let rejection, _), .rejected(let rejection): Self.faults.contains(rejection.outcome)
        case .accepted, .unknown: false
        }
    }

    /// Whether the service has done its work with it.
    fileprivate var showsService: Bool {
        switch self {
        case .accepted: true
        case .rejected: !blamesService
        case .transient, .unknown: false
        }
    }

    fileprivate var why: String {
        switch self {
        case .transient(let rejection, _), .rejected(let rejection):
            [rejection.reason, rejection.explanation].filter { !$0.isEmpty }.joined(separator: ": ")
        case .accepted, .unknown: ""
        }
    }
}
