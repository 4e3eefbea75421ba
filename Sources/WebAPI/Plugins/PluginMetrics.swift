import Metrics
import Synchronization

/// Counts requests to plugins, by plugin and class of status.
final class PluginMetrics: Sendable {
    private struct Key: Hashable {
        let plugin: String
        /// The first digit of the status.
        let kind: Int
    }

    private let counters = Mutex<[Key: Counter]>([:])

    func answered(_ plugin: String, status: Int) {
        let key = Key(plugin: plugin, kind: status / 100)
        let counter = counters.withLock { counters in
            if let known = counters[key] { return known }
            let counter = Counter(
                label: "pushhost_plugin_requests_total", dimensions: [("plugin", plugin), ("status", "\(key.kind)xx")])
            counters[key] = counter
            return counter
        }
        counter.increment()
    }
}
