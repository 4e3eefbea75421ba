import Metrics
import PushModel
import Synchronization

/// The metrics of a hub.
final class HubMetrics: Sendable {
    private struct Key: Hashable {
        let platform: Platform
        let outcome: OutcomeName
    }

    private let hub: String
    private let acceptedCounter: Counter
    private let unreadableCounter: Counter
    private let deliveries = Mutex<[Key: Counter]>([:])

    private let prunings = Mutex<[Pruning: Counter]>([:])

    private struct Pruning: Hashable {
        let platform: Platform
        let reason: String
    }

    init(hub: String) {
        self.hub = hub
        acceptedCounter = Counter(label: "pushhost_notifications_accepted_total", dimensions: [("hub", hub)])
        unreadableCounter = Counter(label: "pushhost_unreadable_rows_total", dimensions: [("hub", hub)])
    }

    /// Counts a row that cannot be read.
    func leftOut() { unreadableCounter.increment() }

    func accepted() { acceptedCounter.increment() }

    /// Counts a registration removed because its handle is invalid.
    func pruned(_ platform: Platform, _ reason: String) {
        let key = Pruning(platform: platform, reason: reason)
        let counter = prunings.withLock { prunings in
            if let known = prunings[key] { return known }
            let counter = Counter(
                label: "pushhost_registrations_pruned_total",
                dimensions: [("hub", hub), ("platform", platform.rawValue), ("reason", reason)])
            prunings[key] = counter
            return counter
        }
        counter.increment()
    }

    func ended(_ platform: Platform, _ outcome: OutcomeName, _ devices: Int) {
        let key = Key(platform: platform, outcome: outcome)
        let counter = deliveries.withLock { deliveries in
            if let known = deliveries[key] { return known }
            let counter = Counter(
                label: "pushhost_deliveries_total",
                dimensions: [("hub", hub), ("platform", platform.rawValue), ("outcome", outcome.rawValue)])
            deliveries[key] = counter
            return counter
        }
        counter.increment(by: devices)
    }
}
