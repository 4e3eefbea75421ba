import NIOCore
import NIOPosix
import Testing

@testable import WebAPI

@Suite struct AlarmTests {
    /// What happened on a loop, in order, up to the alarm.
    private func events(_ begin: @escaping @Sendable (Alarm, NIOLoopBoundBox<[String]>) -> Void) async throws -> [String] {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return try await loop.flatSubmit {
            let rang = loop.makePromise(of: [String].self)
            let events = NIOLoopBoundBox([String](), eventLoop: loop)
            begin(Alarm(loop) { rang.succeed(events.value + ["alarm"]) }, events)
            return rang.futureResult
        }.get()
    }

    private static func holdUp(_ time: TimeAmount) {
        let end = NIODeadline.now() + time
        while NIODeadline.now() < end {}
    }

    @Test func `a loop that was held up reads what came meanwhile before an alarm counts`() async throws {
        let events = try await events { alarm, events in
            alarm.set(.milliseconds(1))
            events.eventLoop.scheduleTask(in: .milliseconds(2)) { events.value.append("read") }
            Self.holdUp(.milliseconds(5))
        }
        #expect(events == ["read", "alarm"])
    }

    @Test func `an alarm that is set anew rings for the last time only`() async throws {
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
