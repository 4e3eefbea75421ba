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

    init(hub: String) {
        self.hub = hub
        acceptedCounter = Counter(label: "pushhost_notifications_accepted_total", dimensions: [("hub", hub)])
        leftOutCounter = Counter(label: "pushhost_unreadable_rows_total", dimensions: [("hub", hub)])
    }

    /// A row that cannot be read.
    func leftOut() { leftOutCounter.increment() }

    func accepted() { acceptedCounter.increment() }

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
