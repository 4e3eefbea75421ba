import Metrics
import Synchronization

/// What a hub counts, for whoever watches a server.
final class HubMeter: Sendable {
    private struct Key: Hashable {
        let platform: Platform
        let outcome: OutcomeName
    }

    private let hub: String
    private let acceptedCounter: Counter
    private let leftOutCounter: Counter
    private let deliveries = Mutex<[Key: Counter]>([:])

    private let prunings = Mutex<[Pruning: Counter]>([:])

    private struct Pruning: Hashable {
        let platform: Platform
        let reason: String
    }

    init(hub: String) {
        self.hub = hub
        acceptedCounter = Counter(label: "pushhost_notifications_accepted_total", dimensions: [("hub", hub)])
        leftOutCounter = Counter(label: "pushhost_unreadable_rows_total", dimensions: [("hub", hub)])
    }

    /// A row that cannot be read.
    func leftOut() { leftOutCounter.increment() }

    func accepted() { acceptedCounter.increment() }

    /// A registration that left because its handle is dead.
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
