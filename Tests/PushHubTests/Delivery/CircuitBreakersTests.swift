import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct CircuitBreakersTests {
    private let circuits = CircuitBreakers([.apns, .browser])
    private let startTime = HubBench.startTime
    private let failing = Array(repeating: Verdict.transient(.busy, retryAfter: nil), count: 20)
    private let well = [Verdict.accepted(id: nil)]

    private func browsers(_ host: String) -> PushService { PushService(.browser, origin: "https://\(host)") }

    @Test func `a browser push service that does not answer has an open circuit, whatever the others answer`() {
        #expect(circuits.note(well, of: browsers("push.example"), now: startTime) == nil)
        #expect(circuits.note(failing, of: browsers("push.test"), now: startTime) == .opened(until: startTime + .seconds(5)))
        #expect(circuits.note(well, of: browsers("push.example"), now: startTime) == nil)
        #expect(circuits[browsers("push.test")]?.admission(startTime) == .wait(until: startTime + .seconds(5)))
        #expect(circuits[browsers("push.example")] == nil)
        #expect(circuits[PushService(.browser)]?.admission(startTime) == .all)
        #expect(circuits.open(startTime).map(\.service) == [browsers("push.test")])
        #expect(circuits.note(well, of: browsers("push.test"), now: startTime + .seconds(5)) == .closed)
        #expect(circuits[browsers("push.test")] == nil)
        #expect(circuits.open(startTime).isEmpty)
    }

    @Test func `failures of a push service are counted across batches`() {
        let (first, last) = (Array(failing.prefix(12)), Array(failing.prefix(8)))
        #expect(circuits.note(first, of: browsers("push.test"), now: startTime) == nil)
        #expect(circuits.note(first, of: browsers("push.example"), now: startTime) == nil)
        #expect(circuits.note(last, of: browsers("push.test"), now: startTime) == .opened(until: startTime + .seconds(5)))
    }

    @Test func `services that share batches have no circuit`() {
        #expect(circuits.note(failing, of: .others, now: startTime) == nil)
        #expect(circuits[.others] == nil)
    }

    @Test func `a limited number of services is tracked, and open circuits are never forgotten`() {
        for number in 1..<CircuitBreakers.mostOrigins {
            #expect(circuits.note(failing, of: browsers("\(number).test"), now: startTime) != nil)
        }
        // The last entry belongs to the service that failed last.
        for number in 1...3 {
            #expect(circuits.note(Array(failing.prefix(19)), of: browsers("\(number).example"), now: startTime) == nil)
        }
        #expect(circuits[browsers("1.example")] == nil && circuits[browsers("2.example")] == nil)
        #expect(circuits.note(Array(failing.prefix(1)), of: browsers("3.example"), now: startTime) != nil)
        #expect(circuits.open(startTime).count == CircuitBreakers.mostOrigins)
        #expect(circuits.note(failing, of: browsers("4.example"), now: startTime) == nil)
        #expect(circuits[browsers("4.example")] == nil)
    }

    @Test func `a circuit that was not probed for an hour is forgotten`() {
        let later = startTime + .seconds(5) + CircuitBreakers.memory
        for number in 1...CircuitBreakers.mostOrigins { _ = circuits.note(failing, of: browsers("\(number).test"), now: startTime) }
        #expect(circuits.open(later).count == CircuitBreakers.mostOrigins)
        // It makes space for a new failure, even without a call that lists circuits.
        let now = later + .seconds(1)
        #expect(circuits.note(failing, of: browsers("push.test"), now: now) == .opened(until: now + .seconds(5)))
        #expect(circuits.open(now).map(\.service) == [browsers("push.test")])
        _ = circuits.note(failing, of: PushService(.apns), now: startTime)
        #expect(circuits.open(now).map(\.service.platform) == [.apns, .browser])
    }

    @Test(arguments: [
        ("https://push.example/send/1", "https://push.example"), ("https://push.example:8443/a/b", "https://push.example:8443"),
        ("https://push.example", "https://push.example"), ("https://[::1]:8091/x", "https://[::1]:8091"), ("nonsense", "nonsense"),
        ("https://Push.EXAMPLE/send/A", "https://push.example"),
        ("https://push.example?x=/1", "https://push.example"), ("https://push.example#/1", "https://push.example"),
    ])
    func `the origin of a browser is that of its endpoint`(endpoint: String, origin: String) {
        #expect(PushService.origin(of: .browser(endpoint: endpoint, p256dh: "", auth: "")).map(String.init) == origin)
    }

    @Test func `other devices have no origin`() { #expect(PushService.origin(of: .phone(1)) == nil) }
}
