import Testing

@testable import Bindings

@Suite struct PlannedSendsTests {
    private func entry(_ id: String) -> PlannedSends.Entry { PlannedSends.Entry(id: id, audience: "a") }

    @Test func `the order is that of scheduling, whatever is removed in between`() {
        var planned = PlannedSends()
        for number in 0..<10 { planned.append(entry("n-\(number)")) }
        for id in ["n-0", "n-5", "n-9", "n-5", "unknown"] { planned.remove(id) }
        planned.append(entry("n-5"))
        #expect(planned.inOrder.map(\.id) == ["n-1", "n-2", "n-3", "n-4", "n-6", "n-7", "n-8", "n-5"])
        #expect(planned.count == 8)
    }

    @Test func `a notification is listed once, at its latest scheduling`() {
        var planned = PlannedSends()
        planned.append(entry("a"))
        planned.append(entry("b"))
        planned.append(PlannedSends.Entry(id: "a", audience: "changed"))
        #expect(planned.inOrder.map(\.audience) == ["a", "changed"])
        var other = PlannedSends()
        other.append(entry("c"))
        planned.append(contentsOf: other)
        #expect(planned.inOrder.map(\.id) == ["b", "a", "c"])
    }
}
