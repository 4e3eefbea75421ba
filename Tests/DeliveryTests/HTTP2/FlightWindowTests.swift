import Testing

@testable import Delivery

@Suite struct FlightWindowTests {
    private let window = CongestionWindow(limit: 500)

    private func answer(_ count: Int) { for _ in 0..<count { window.answered() } }

    @Test func `without broken connections the window stays at its limit`() {
        answer(10_000)
        #expect(window.size == 500)
    }

    @Test func `a break halves the window, and limits it to the answers of that connection`() {
        window.broke(since: 0, answers: 9_000)
        #expect(window.size == 250)
        window.broke(since: 1, answers: 49)
        #expect(window.size == 49)
        window.broke(since: 2, answers: 0)
        #expect(window.size == 1)
        window.broke(since: 3, answers: 0)
        #expect(window.size == 1)
    }

    @Test func `connections that break together count as one break`() {
        for _ in 0..<4 { window.broke(since: 0, answers: 9_000) }
        #expect(window.size == 250 && window.breaks == 1)
    }

    @Test func `the window grows with each answer to half of its earlier size, then slowly up to its limit`() {
        window.broke(since: 0, answers: 100)
        answer(150)
        #expect(window.size == 250)
        answer(249)
        #expect(window.size == 250)
        answer(1)
        #expect(window.size == 251)
        answer(250 * 500)
        #expect(window.size == 500)
    }

    @Test(arguments: [10, 50, 300, 2_000])
    func `when every nth request breaks the connection, few requests are repeated`(every: Int) {
        // Each wave sends a full window; the connection breaks at its fault, and the requests after it are sent again.
        let pushes = 20_000
        var (reached, sent, answers) = (0, 0, 0)
        while reached < pushes {
            let wave = min(window.size, pushes - reached)
            let fault = every - (sent % every)
            sent += wave
            if wave < fault {
                answer(wave)
                (reached, answers) = (reached + wave, answers + wave)
            } else {
                answer(fault - 1)
                reached += fault - 1
                window.broke(since: window.breaks, answers: answers + fault - 1)
                answers = 0
            }
        }
        let repetitions = Double(sent) / Double(reached)
        #expect(repetitions < 1.5, "\(repetitions) times each")
    }
}
