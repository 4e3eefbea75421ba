import PushHub
import PushModel
import Storage
import Support
import Testing

/// Cancelling a fan-out that is in progress.
@Suite struct SendCancellationTests {
    private let bench: HubBench

    init() throws { bench = try HubBench() }

    private func hub(_ concurrentNotifications: Int = 4) async throws -> NotificationHub {
        try await bench.reopened(
            HubSettings(
                limits: HubSettings.Limits(concurrentNotifications: concurrentNotifications),
                dispatch: HubSettings.Dispatch(isConcurrent: true)))
    }

    private func paced(_ pace: String = "1/m") throws -> NotificationRequest {
        var request = try NotificationRequest.alert()
        request.pace = try Pace(pace)
        return request
    }

    /// Returns once this many batches were sent. Advances the clock as needed.
    private func batches(_ count: Int) async throws {
        for number in 1...count {
            // The wait for the next batch may begin before this one.
            try await until { bench.connector.batches.count >= number && bench.clock.hasSleepingTasks }
            if number < count { _ = bench.clock.advanceToNextDeadline() }
        }
    }

    @Test func `devices already reached count as sent, and no other device gets the push`() async throws {
        for number in 1...10 { try await bench.register(.phone(number)) }
        let hub = try await hub()
        let id = try await hub.accept(paced()).outcome.id
        try await batches(3)
        try await hub.cancel(notification: id)
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .canceled && outcome.counts == [.apns: [.success: 3, .abandoned: 7]])
        #expect(outcome.devices.count == 10)
        await bench.settle()
        #expect(bench.connector.batches.count == 3)
        #expect(await hub.backlog == 0)
    }

    @Test func `a cancelled notification is still cancelled in the next process`() async throws {
        for number in 1...5 { try await bench.register(.phone(number)) }
        let hub = try await hub()
        let id = try await hub.accept(paced()).outcome.id
        try await batches(1)
        try await hub.cancel(notification: id)
        let again = try await self.hub()
        await bench.settle()
        #expect(bench.connector.batches.count == 1)
        #expect(try await again.outcome(of: id).state == .canceled)
    }

    @Test func `a notification deferred by a push service ends at once`() async throws {
        try await bench.register(.phone(1))
        bench.connector.script(.phone(1), .transient(.tooMany, retryAfter: .seconds(600)), .accepted(id: "late"))
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        try await bench.untilSomebodySleeps()
        try await hub.cancel(notification: id)
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .canceled && outcome.counts == [.apns: [.abandoned: 1]])
        #expect(outcome.endedAt == HubBench.startTime)
        await bench.settle()
        #expect(bench.connector.batches.count == 1)
    }

    @Test func `a notification that waits for its turn ends when the turn comes`() async throws {
        let bench = try HubBench(platforms: [.apns])
        try await bench.register(.phone(1))
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        bench.connector.during { _ in for await _ in gate {} }
        let hub = try await bench.reopened(
            HubSettings(limits: HubSettings.Limits(concurrentNotifications: 1), dispatch: HubSettings.Dispatch(isConcurrent: true)))
        let first = try await hub.accept(.alert("first")).outcome.id
        let second = try await hub.accept(.alert("second")).outcome.id
        try await until { !bench.connector.batches.isEmpty }
        let stop = Task { try await hub.cancel(notification: second) }
        try await until { bench.notes(.delivery).contains("cancelling \(second)") }
        open.finish()
        try await stop.value
        #expect(try await hub.outcome(of: second).state == .canceled)
        #expect(try await hub.finish(first).sent == 1)
        #expect(bench.connector.batches.count == 1)
    }

    @Test func `two simultaneous cancellations succeed, and a later one reports that the notification has ended`() async throws {
        for number in 1...3 { try await bench.register(.phone(number)) }
        let hub = try await hub()
        let id = try await hub.accept(paced()).outcome.id
        try await batches(1)
        let stops = (1...2).map { _ in Task { try await hub.cancel(notification: id) } }
        for stop in stops { try await stop.value }
        let late = await refusal { try await hub.cancel(notification: id) }
        #expect(late?.code == "notification.not_found" && late?.status == 404)
        #expect(late?.message == "notification \(id) has already ended (Canceled); nothing was cancelled")
    }

    @Test func `a notification that has ended cannot be cancelled, and an unknown one is not found`() async throws {
        try await bench.register(.phone(1))
        let hub = try await hub()
        let id = try await hub.accept(.alert()).outcome.id
        #expect(try await hub.finish(id).state == .completed)
        #expect(await refusal { try await hub.cancel(notification: id) }?.hint == "pushes that were sent cannot be recalled")
        #expect(await refusal { try await hub.cancel(notification: "n-9999") }?.code == "notification.not_found")
    }

    @Test func `if the end cannot be stored the cancellation fails`() async throws {
        for number in 1...3 { try await bench.register(.phone(number)) }
        let hub = try await hub()
        let id = try await hub.accept(paced()).outcome.id
        try await batches(1)
        bench.store.refuse([.record])
        let stop = Task { try await hub.cancel(notification: id) }
        try await until { try await hub.outcome(of: id).state == .canceled }
        #expect(try await bench.store.notification(1)?.outcome.state != .canceled)
        bench.store.refuse([])
        await bench.settle()
        try await stop.value
        #expect(try await bench.store.notification(1)?.outcome.state == .canceled)
    }
}
