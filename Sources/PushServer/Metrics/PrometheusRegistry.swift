package import CoreMetrics
import Synchronization

/// Collects the metrics of swift-metrics and exports them as text for Prometheus (exposition format 0.0.4).
package final class PrometheusRegistry: MetricsFactory {
    fileprivate struct Key: Hashable {
        let label: String
        let dimensions: [Dimension]

        struct Dimension: Hashable {
            let name: String
            let value: String
        }

        init(_ label: String, _ dimensions: [(String, String)]) {
            self.label = label
            self.dimensions = dimensions.map { Dimension(name: $0.0, value: $0.1) }
        }
    }

    private enum Metric {
        case counter(Count)
        case gauge(Level)
        /// A counter whose value is set by `replace`.
        case total(Level)
        case durations(Durations)
    }

    private let metrics = Mutex<[Key: Metric]>([:])

    package init() {}

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let made = Count()
        guard case .counter(let counter) = metric(label, dimensions, .counter(made)) else { return made }
        return counter
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        let made = Level()
        guard case .gauge(let gauge) = metric(label, dimensions, .gauge(made)) else { return made }
        return gauge
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        let made = Level()
        guard case .gauge(let gauge) = metric(label, dimensions, .gauge(made)) else { return made }
        return gauge
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let made = Durations()
        guard case .durations(let timer) = metric(label, dimensions, .durations(made)) else { return made }
        return timer
    }

    // Values are kept after their handlers are destroyed.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// Replaces all values of a gauge, or of a counter that is maintained elsewhere. Label combinations that are not in `values` are
    /// removed.
    func replace(_ label: String, isCounter: Bool = false, with values: [(dimensions: [(String, String)], value: Double)]) {
        let made = values.map { dimensions, value in
            let level = Level()
            level.set(value)
            return (Key(label, dimensions), isCounter ? Metric.total(level) : .gauge(level))
        }
        metrics.withLock { metrics in
            metrics = metrics.filter { $0.key.label != label }
            for (key, metric) in made { metrics[key] = metric }
        }
    }

    private func metric(_ label: String, _ dimensions: [(String, String)], _ made: Metric) -> Metric {
        metrics.withLock { metrics in
            let key = Key(label, dimensions)
            if let known = metrics[key] { return known }
            metrics[key] = made
            return made
        }
    }

    /// All metrics, sorted by name and labels.
    var text: String {
        let all = metrics.withLock { Array($0) }
        var text = ""
        for (name, group) in Dictionary(grouping: all, by: { $0.key.label }).sorted(by: { $0.key < $1.key }) {
            let rows = group.map { (labels: $0.key.labels, metric: $0.value) }.sorted { $0.labels < $1.labels }
            text += "# TYPE \(name) \(rows.first.map { Self.type(of: $0.metric) } ?? "untyped")\n"
            for row in rows { Self.write(row.metric, name, row.labels, into: &text) }
        }
        return text
    }

    private static func type(of metric: Metric) -> String {
        switch metric {
        case .counter, .total: "counter"
        case .gauge: "gauge"
        case .durations: "histogram"
        }
    }

    private static func write(_ metric: Metric, _ name: String, _ labels: String, into text: inout String) {
        func braced(_ more: String = "") -> String {
            let inner = [labels, more].filter { !$0.isEmpty }.joined(separator: ",")
            return inner.isEmpty ? "" : "{\(inner)}"
        }
        switch metric {
        case .counter(let counter): text += "\(name)\(braced()) \(counter.value)\n"
        case .gauge(let gauge), .total(let gauge): text += "\(name)\(braced()) \(number(gauge.value))\n"
        case .durations(let timer):
            let (counts, sum) = timer.counts
            var total = 0
            for (bound, count) in zip(Durations.bounds, counts) {
                total += count
                text += "\(name)_bucket\(braced("le=\"\(number(bound))\"")) \(total)\n"
            }
            total += counts.last ?? 0
            text += "\(name)_bucket\(braced("le=\"+Inf\"")) \(total)\n"
            text += "\(name)_sum\(braced()) \(number(sum))\n\(name)_count\(braced()) \(total)\n"
        }
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }

    private final class Count: CounterHandler {
        private let count = Mutex<Int64>(0)

        var value: Int64 { count.withLock { $0 } }

        func increment(by amount: Int64) { count.withLock { $0 &+= amount } }
        func reset() { count.withLock { $0 = 0 } }
    }

    private final class Level: MeterHandler, RecorderHandler {
        private let level = Mutex(0.0)

        var value: Double { level.withLock { $0 } }

        func set(_ value: Int64) { level.withLock { $0 = Double(value) } }
        func set(_ value: Double) { level.withLock { $0 = value } }
        func increment(by amount: Double) { level.withLock { $0 += amount } }
        func decrement(by amount: Double) { level.withLock { $0 -= amount } }
        func record(_ value: Int64) { set(value) }
        func record(_ value: Double) { set(value) }
    }

    private final class Durations: TimerHandler {
        /// Upper bounds of the buckets in seconds.
        static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

        private let state = Mutex((counts: [Int](repeating: 0, count: bounds.count + 1), sum: 0.0))

        var counts: (counts: [Int], sum: Double) { state.withLock { $0 } }

        func recordNanoseconds(_ duration: Int64) {
            let seconds = Double(duration) / 1e9
            let index = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
            state.withLock { state in
                state.counts[index] += 1
                state.sum += seconds
            }
        }
    }
}

extension PrometheusRegistry.Key {
    fileprivate var labels: String {
        dimensions.map { dimension in
            let value = dimension.value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(dimension.name)=\"\(value)\""
        }.joined(separator: ",")
    }
}
