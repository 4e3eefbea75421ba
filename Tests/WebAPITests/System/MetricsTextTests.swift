import NIOCore
import PushModel
import Support
import Synchronization
import Testing

@testable import WebAPI

@Suite struct MetricsTextTests {
    @Test func `the metrics are computed at most once a second, however many requests there are`() async {
        let count = Mutex(0)
        let metrics = MetricsText {
            count.withLock {
                $0 += 1; return "made \($0)"
            }
        }
        let startTime = HubBench.startTime
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { String(buffer: await metrics.text(now: startTime)) } }
            for await text in group { #expect(text == "made 1") }
        }
        #expect(String(buffer: await metrics.text(now: startTime + .milliseconds(999))) == "made 1")
        #expect(String(buffer: await metrics.text(now: startTime + MetricsText.age)) == "made 2")
        // A clock that is set back does not extend that.
        #expect(String(buffer: await metrics.text(now: startTime)) == "made 3")
        #expect(metrics.size == 6)
    }
}
