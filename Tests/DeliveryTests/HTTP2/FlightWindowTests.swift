import Testing

@testable import Delivery

@Suite struct FlightWindowTests {
    private let window = FlightWindow(limit: 500)

    private func answer(_ count: Int) { for _ in 0..<count { window.answered() } }

    @Test func `nothing is held back while no connection breaks off`() {
        answer(10_000)
        #expect(window.size == 500)
    }

    @Test func `a break halves it, and what the connection had answered is the most`() {
        window.broke(since: 0, answers: 9_000)
        #expect(window.size == 250)
        window.broke(since: 1, answers: 49)
        #expect(window.size == 49)
        window.broke(since: 2, answers: 0)
        #expect(window.size == 1)
        window.broke(since: 3, answers: 0)
        #expect(window.size == 1)
    }

    @Test func `connections that break off together count as one`() {
        for _ in 0..<4 { window.broke(since: 0, answers: 9_000) }
        #expect(window.size == 250 && window.breaks == 1)
    }

    @Test func `it grows by each answer up to half of what it was, then slowly, and no further than its limit`() {
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
    func `where every so manieth request breaks the connection, few are sent in vain`(every: Int) {
        // As many are begun as may be; the connection breaks off at its fault, and those that were begun have to be sent once more.
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
