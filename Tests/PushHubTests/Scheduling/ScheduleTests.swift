import PushHub
import PushModel
import Storage
import Support
import Testing

@Suite struct ScheduleTests {
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench() }

    @Test("A scheduled notification waits for its due time and reaches the devices registered then") func waits() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        let dueTime = HubBench.startTime + .seconds(3600)
        let scheduled = try await hub.schedule(.alert(to: "a"), at: dueTime)
        #expect(scheduled.state == .scheduled && scheduled.scheduledFor == dueTime && scheduled.tags == "a")
        try await bench.register(.phone(2), tags: ["a"])
        try await bench.untilSomebodySleeps()
        bench.advance(by: .seconds(3599))
        #expect(try await hub.outcome(of: scheduled.id).state == .scheduled)
        #expect(bench.connector.batches.isEmpty)
        await bench.settle()
        let outcome = try await hub.outcome(of: scheduled.id)
        #expect(outcome.state == .completed && outcome.sent == 2)
        #expect(outcome.scheduledFor == dueTime && outcome.startedAt == dueTime && outcome.enqueuedAt == HubBench.startTime)
        #expect(bench.connector.deliveries.map(\.time) == [dueTime])
        #expect(bench.notes(.schedule) == ["n-0001 is scheduled for 2026-01-05T10:00:00.000Z"])
    }

    @Test("Notifications are sent by due time, not in the order of scheduling") func order() async throws {
        try await bench.register(.phone(1))
        for hours in [3, 1, 2] {
            _ = try await hub.schedule(.alert("\(hours)"), at: HubBench.startTime + .seconds(hours * 3600))
        }
        await bench.settle()
        #expect(bench.connector.bodies == [1, 2, 3].map { #"{"aps":{"alert":"\#($0)"}}"# })
    }

    /// Schedules notifications for the same time. Returns how often the store is read until all are delivered.
    private func reads(delivering count: Int) async throws -> Int {
        let bench = try HubBench()
        try await bench.register(.phone(1))
        for _ in 0..<count { _ = try await bench.hub.schedule(.alert(), at: HubBench.startTime + .seconds(3600)) }
        let before = bench.store.count(of: .read)
        await bench.settle()
        #expect(bench.connector.bodies.count == count)
        return bench.store.count(of: .read) - before
    }

    @Test("Twice as many due notifications need at most twice as many reads of the store") func reading() async throws {
        // Each read returns up to half of what the outbox has room for.
        let reads = try await (reads(delivering: 256), reads(delivering: 512))
        #expect(reads.0 > 0 && reads.1 <= 2 * reads.0, "\(reads)")
    }

    @Test("With a due time in the past, a notification is sent at once") func past() async throws {
        try await bench.register(.phone(1))
        let scheduled = try await hub.schedule(.alert(), at: HubBench.startTime + .seconds(-5))
        await bench.settle()
        #expect(try await hub.outcome(of: scheduled.id).state == .completed)
        #expect(bench.clock.now == HubBench.startTime)
    }

    @Test("A due time is at most seven days ahead") func limit() async throws {
        let week = HubBench.startTime + .seconds(7 * 86_400)
        _ = try await hub.schedule(.alert(), at: week)
        let error = await refusal { try await hub.schedule(.alert(), at: week + .milliseconds(1)) }
        #expect(error?.code == "time.too_far")
        #expect(error?.message == "2026-01-12T09:00:00.001Z is more than seven days ahead")
        #expect(error?.status == 400)
        await bench.settle()
    }

    @Test("Content is checked when it is scheduled") func content() async throws {
        let request = NotificationRequest(audience: .everyone, content: .native([:]))
        #expect(await refusal { try await hub.schedule(request, at: HubBench.startTime) }?.code == "payload.empty")
    }

    @Test("A cancelled notification is not sent") func cancel() async throws {
        try await bench.register(.phone(1))
        let scheduled = try await hub.schedule(.alert(), at: HubBench.startTime + .seconds(3600))
        try await bench.untilSomebodySleeps()
        bench.advance(by: .seconds(60))
        try await hub.cancel(notification: scheduled.id)
        await bench.settle()
        let outcome = try await hub.outcome(of: scheduled.id)
        #expect(outcome.state == .canceled && outcome.endedAt == HubBench.startTime + .seconds(60))
        #expect(bench.connector.batches.isEmpty)
        #expect(bench.notes(.schedule).last == "n-0001 cancelled")
    }

    @Test("A notification that was sent, was cancelled or never existed cannot be cancelled") func cancelTooLate() async throws {
        let ran = try await hub.schedule(.alert(), at: HubBench.startTime + .seconds(1)).id
        await bench.settle()
        let cancelled = try await hub.schedule(.alert(), at: HubBench.startTime + .seconds(60)).id
        try await hub.cancel(notification: cancelled)
        await bench.settle()
        for id in [ran, cancelled, "n-9999"] {
            let error = await refusal { try await hub.cancel(notification: id) }
            #expect(error?.code == "notification.not_found")
            #expect(error?.message.contains(id) == true)
            #expect(error?.status == 404)
        }
    }

    @Test("A wait that its caller cancels counts as cancelled") func stopped() async throws {
        let clock = VirtualClock(now: HubBench.startTime)
        let hub = NotificationHub(
            environment: HubEnvironment(
                clock: clock, random: SeededRandom(seed: 1),
                start: { work in
                    let task = Task { await work() }
                    task.cancel()
                    return task
                }), connectors: [], store: MemoryHubStore())
        let id = try await hub.schedule(.alert(), at: HubBench.startTime + .seconds(60)).id
        try await until { try await hub.outcome(of: id).state != .scheduled }
        #expect(try await hub.outcome(of: id).state == .canceled)
    }
}
