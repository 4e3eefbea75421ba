import Logging
import Metrics
import PushCore
import Synchronization

/// Counts what a push service puts off, and tells the log when it begins to refuse or to fail everything, and when that is over:
/// what waits for it is tried again for half an hour, and nobody would see why.
final class WatchedConnector: Connector {
    let platforms: Set<Platform>
    private let base: any Connector
    private let hub: String
    private let log: Logger
    private let failing = Mutex<Set<Platform>>([])

    init(_ base: any Connector, hub: String, log: Logger) {
        self.base = base
        platforms = base.platforms
        self.hub = hub
        self.log = log
    }

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
        let isFailing = verdicts.allSatisfy(\.isOfService)
        let hasChanged = failing.withLock {
            isFailing ? $0.insert(batch.platform).inserted : $0.remove(batch.platform) != nil
        }
        guard hasChanged else { return verdicts }
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
    /// Whether it says something of the service, or of who asks it, and nothing of the device.
    fileprivate var isOfService: Bool {
        switch self {
        case .transient: true
        case .rejected(let rejection): rejection.outcome == .invalidCredentials
        case .accepted, .unknown: false
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
