import Logging
import Metrics
import PushModel
import Synchronization

/// Counts deferred deliveries, and logs when a push service starts and stops failing all deliveries. Deferred deliveries are retried for
/// half an hour, so the cause would not be visible otherwise. Rejections caused by one send's headers, content or device are logged for
/// that notification.
struct WatchedConnector: Connector {
    /// The failing push services of all hubs. Shared, because a changed hub gets new connectors.
    final class Outages: Sendable {
        struct Key: Hashable {
            var hub: String
            var platform: Platform
        }

        private let all = Mutex<Set<Key>>([])
        /// The last notification whose rejection was logged.
        private let refused = Mutex<[Key: String]>([:])

        /// Records the state. Returns whether it has changed.
        fileprivate func note(_ key: Key, isFailing: Bool) -> Bool {
            all.withLock { isFailing ? $0.insert(key).inserted : $0.remove(key) != nil }
        }

        /// Returns whether this is the first rejection of this notification.
        fileprivate func noteRefusal(_ key: Key, of notification: String) -> Bool {
            refused.withLock { $0.updateValue(notification, forKey: key) != notification }
        }
    }

    let base: any Connector
    let hub: String
    let outages: Outages
    let log: Logger
    var path = ConnectionPath.pushServices

    var platforms: Set<Platform> { base.platforms }

    func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let verdicts = await base.deliver(batch)
        ChargedWork.account?.charge(cpuTime: batch.handles.count * path.cpuTime(of: batch.platform))
        // Verdicts of a cancelled batch say nothing about the service.
        guard !Task.isCancelled, let first = verdicts.first else { return verdicts }
        let deferred = verdicts.count { if case .transient = $0 { true } else { false } }
        if deferred > 0 {
            Counter(
                label: "pushhost_deliveries_put_off_total", dimensions: [("hub", hub), ("platform", batch.platform.rawValue)]
            ).increment(by: deferred)
        }
        let key = Outages.Key(hub: hub, platform: batch.platform)
        let name = "hub \"\(hub)\": \(batch.platform.displayName)"
        if let refused = verdicts.first(where: \.blamesSend), outages.noteRefusal(key, of: batch.notificationID) {
            log.notice("\(name) rejected the notification \(batch.notificationID): \(refused.why)")
        }
        let isFailing = verdicts.allSatisfy(\.blamesService)
        // Unknown results and throttling of a single device do not show the state of the service.
        guard isFailing || verdicts.contains(where: \.showsService),
            outages.note(key, isFailing: isFailing)
        else { return verdicts }
        if isFailing {
            log.warning("\(name) fails all deliveries: \(first.why)")
        } else {
            log.notice("\(name) accepts deliveries again")
        }
        return verdicts
    }
}

extension Verdict {
    private static let faults: Set<OutcomeName> = [
        .invalidCredentials, .pnsInterfaceError, .pnsServerError, .pnsUnavailable, .pnsUnreachable,
    ]

    /// Whether the service or the hub's credential failed, not the device.
    fileprivate var blamesService: Bool {
        switch self {
        case .transient(let rejection, _), .rejected(let rejection):
            rejection.scope == .hub && Self.faults.contains(rejection.outcome) || rejection.isCredentialBlocked
        case .accepted, .unknown: false
        }
    }

    /// Whether the send's headers or content were rejected.
    fileprivate var blamesSend: Bool {
        if case .rejected(let rejection) = self { rejection.scope != .hub && Self.faults.contains(rejection.outcome) } else { false }
    }

    /// Whether the service processed the request.
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
