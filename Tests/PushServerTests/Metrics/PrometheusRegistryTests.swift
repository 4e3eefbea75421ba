import CoreMetrics
import Testing

@testable import PushServer

@Suite struct PrometheusRegistryTests {
    @Test func `metrics are written in the Prometheus text format`() {
        let registry = PrometheusRegistry()
        let labels = [("hub", "news"), ("text", "a\"b\\c\nd")]
        registry.makeCounter(label: "pushhost_sent_total", dimensions: labels).increment(by: 2)
        registry.makeCounter(label: "pushhost_sent_total", dimensions: labels).increment(by: 3)
        registry.makeCounter(label: "pushhost_sent_total", dimensions: []).increment(by: 1)
        registry.makeMeter(label: "pushhost_backlog", dimensions: []).set(1.5 as Double)
        let timer = registry.makeTimer(label: "pushhost_seconds", dimensions: [("route", "messages")])
        for nanoseconds: Int64 in [500_000, 3_000_000, 20_000_000_000] { timer.recordNanoseconds(nanoseconds) }
        let text = registry.text
        #expect(
            text.hasPrefix(
                """
                # TYPE pushhost_backlog gauge
                pushhost_backlog 1.5
                # TYPE pushhost_seconds histogram
                pushhost_seconds_bucket{route="messages",le="0.001"} 1
                pushhost_seconds_bucket{route="messages",le="0.0025"} 1
                pushhost_seconds_bucket{route="messages",le="0.005"} 2
                """))
        #expect(
            text.hasSuffix(
                #"""
                pushhost_seconds_bucket{route="messages",le="10"} 2
                pushhost_seconds_bucket{route="messages",le="+Inf"} 3
                pushhost_seconds_sum{route="messages"} 20.0035
                pushhost_seconds_count{route="messages"} 3
                # TYPE pushhost_sent_total counter
                pushhost_sent_total 1
                pushhost_sent_total{hub="news",text="a\"b\\c\nd"} 5

                """#))
    }

    @Test func `A metric's name has the type of its first use`() {
        let registry = PrometheusRegistry()
        registry.makeCounter(label: "a", dimensions: []).increment(by: 1)
        registry.makeMeter(label: "a", dimensions: []).set(Int64(7))
        #expect(registry.text == "# TYPE a counter\na 1\n")
    }
}
