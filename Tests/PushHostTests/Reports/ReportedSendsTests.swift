import PushModel
import Synchronization
import Testing

@testable import Bindings
@testable import PushHost

/// The sends of a report, by the number of comparisons that their results take.
@Suite struct ReportedSendsTests {
    private final class Comparisons: Sendable {
        let count = Mutex(0)
    }

    /// The id of a send. Counts its comparisons.
    private struct CountedID: Hashable, Sendable {
        let text: String
        let comparisons: Comparisons

        static func == (left: CountedID, right: CountedID) -> Bool {
            left.comparisons.count.withLock { $0 += 1 }
            return left.text == right.text
        }

        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }

    private static func send(_ number: Int, _ state: String) -> FlowSend {
        FlowSend(id: "n-\(number)", audience: "news", state: state, counts: FlowSend.Counts(sent: 0, failed: 0, total: 0), faults: [])
    }

    private static func step(_ sends: [FlowSend]) -> FlowStep {
        let time = Timestamp(milliseconds: 0)
        return FlowStep(id: 1, depth: 0, name: "step", status: .passed, began: time, ended: time, sends: sends)
    }

    /// Reports a number of scheduled sends, half of them in steps of ten, and completes them.
    private static func comparisons(_ number: Int) -> Int {
        let comparisons = Comparisons()
        var report = ReportedSends { CountedID(text: $0.id, comparisons: comparisons) }
        for first in stride(from: 0, to: number, by: 20) {
            for number in first..<(first + 10) { report.append(send(number, "Scheduled")) }
            report.append(step((first + 10..<first + 20).map { send($0, "Scheduled") }))
        }
        for index in 0..<number { report.complete(send(index, "Completed")) }
        let sends = report.outside + report.steps.flatMap(\.sends)
        #expect(sends.count == number && sends.allSatisfy { $0.state == "Completed" })
        return comparisons.count.withLock { $0 }
    }

    @Test(arguments: [1_000, 16_000])
    func `the results of scheduled sends take a constant number of comparisons each`(number: Int) {
        // A hash table compares an id with itself and with the few ids that precede it in its place.
        #expect(Self.comparisons(number) <= 20 * number)
    }

    @Test func `a result replaces its send in its place, and an unknown one is ignored`() {
        var report = ReportedSends(id: \.id)
        for number in 1...2 { report.append(Self.send(number, "Scheduled")) }
        report.append(Self.step([Self.send(3, "Scheduled"), Self.send(4, "Scheduled")]))
        for number in [2, 3, 5] { report.complete(Self.send(number, "Completed")) }
        #expect(report.outside.map { "\($0.id) \($0.state)" } == ["n-1 Scheduled", "n-2 Completed"])
        #expect(report.steps.flatMap(\.sends).map { "\($0.id) \($0.state)" } == ["n-3 Completed", "n-4 Scheduled"])
    }
}
