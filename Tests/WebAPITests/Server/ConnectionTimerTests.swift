import NIOCore
import NIOPosix
import Testing

@testable import WebAPI

@Suite struct ConnectionTimerTests {
    /// The events on a loop, in order, until the timer fires.
    private func events(_ begin: @escaping @Sendable (ConnectionTimer, NIOLoopBoundBox<[String]>) -> Void) async throws -> [String] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return try await loop.flatSubmit {
            let rang = loop.makePromise(of: [String].self)
            let events = NIOLoopBoundBox([String](), eventLoop: loop)
            begin(ConnectionTimer(loop) { rang.succeed(events.value + ["alarm"]) }, events)
            return rang.futureResult
        }.get()
    }

    private static func holdUp(_ time: TimeAmount) {
        let end = NIODeadline.now() + time
        while NIODeadline.now() < end {}
    }

    @Test func `a loop that was blocked reads pending data before the timer fires`() async throws {
        let events = try await events { alarm, events in
            alarm.set(.milliseconds(1))
            events.eventLoop.scheduleTask(in: .milliseconds(2)) { events.value.append("read") }
            Self.holdUp(.milliseconds(5))
        }
        #expect(events == ["read", "alarm"])
    }

    @Test func `a timer that is set repeatedly fires for the last time only`() async throws {
        let events = try await events { alarm, events in
            alarm.set(.seconds(3600))
            alarm.set(.milliseconds(1))
            alarm.set(nil)
            events.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(2)) {
                events.value.append("later")
                alarm.set(.milliseconds(1))
            }
        }
        #expect(events == ["later", "alarm"])
    }
}
