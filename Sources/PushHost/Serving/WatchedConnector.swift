import Logging
import Metrics
import PushCore
import Synchronization

/// Counts what a push service puts off, and tells the log when it begins to refuse or to fail everything, and when that is over:
/// what waits for it is tried again for half an hour, and nobody would see why. What is refused because of one send's headers, content
/// or device is logged as that notification's.
struct WatchedConnector: Connector {
    /// Which push services take nothing, of all hubs: a hub that is changed gets new connectors.
    final class Outages: Sendable {
        struct Key: Hashable {
            var hub: String
            var platform: Platform
        }

        private let all = Mutex<Set<Key>>([])
        /// The last notification that was logged as refused.
        private let refused = Mutex<[Key: String]>([:])

        /// Whether that is news.
        fileprivate func note(_ key: Key, isFailing: Bool) -> Bool {
            all.withLock { isFailing ? $0.insert(key).inserted : $0.remove(key) != nil }
        }

        /// Whether it is the first refusal of this notification.
        fileprivate func noteRefusal(_ key: Key, of notification: String) -> Bool {
            refused.withLock { $0.updateValue(notification, forKey: key) != notification }
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
        let key = Outages.Key(hub: hub, platform: batch.platform)
        let name = "the hub \(hub): \(batch.platform.displayName)"
        if let refused = verdicts.first(where: \.blamesSend), outages.noteRefusal(key, of: batch.notificationID) {
            log.notice("\(name) refuses the notification \(batch.notificationID): \(refused.why)")
        }
        let isFailing = verdicts.allSatisfy(\.blamesService)
        // Of what nobody knows, and of one device that gets too much, nothing follows.
        guard isFailing || verdicts.contains(where: \.showsService),
            outages.note(key, isFailing: isFailing)
        else { return verdicts }
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
        case .transient(let rejection, _), .rejected(let rejection):
            rejection.scope == .hub && Self.faults.contains(rejection.outcome) || rejection.isCredentialBlocked
        case .accepted, .unknown: false
        }
    }

    /// Whether it is what this send asks for.
    fileprivate var blamesSend: Bool {
        if case .rejected(let rejection) = self { rejection.scope != .hub && Self.faults.contains(rejection.outcome) } else { false }
    }

    /// Whether the service has done its work with it.
    fileprivate var showsService: Bool {
        switch self {
        case .accepted: true
        case .rejected: !blamesService && !blamesSend
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
