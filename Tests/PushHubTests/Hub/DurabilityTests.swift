import PushHub
import PushModel
import Support
import Synchronization
import Testing

/// The hub stores what it confirms, and shows nothing that is not stored.
@Suite struct DurabilityTests {
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench() }

    private func description(_ number: Int, tags: [String] = []) throws -> RegistrationDescription {
        RegistrationDescription(handle: .phone(number), tags: try tags.map { try Tag($0) })
    }

    // MARK: - Registrations

    @Test func `A change that cannot be stored is rejected, and nothing has changed`() async throws {
        let first = try await bench.register(.phone(1), tags: ["a"])
        bench.store.refuse([.commit])
        let attempts: [() async throws -> Void] = [
            { try await bench.register(.phone(2)) },
            { _ = try await hub.putRegistration(first.id, try description(3), ifMatch: nil) },
            { try await hub.deleteRegistration(first.id, ifMatch: nil) },
            { try await hub.putInstallation(Installation(id: "pad", handle: .phone(4))) },
        ]
        for attempt in attempts {
            let error = await refusal { try await attempt() }
            #expect(error?.code == "storage.unavailable" && error?.status == 503 && error?.isRetryable == true)
        }
        #expect(try await hub.registrations(.all, page: Page()).registrations == [first])
        #expect(try await hub.installations(.all, page: Page()).installations.isEmpty)
        #expect(try await bench.send(to: "a").devices.map(\.handle) == [.phone(1)])

        bench.store.refuse([])
        let second = try await bench.register(.phone(2))
        #expect(try await hub.registrations(.all, page: Page()).registrations == [first, second])
        #expect(try await bench.store.load().registrations.map(\.row) == [0, 1])
    }

    @Test func `Simultaneous changes of a registration are made one after the other, and each counts`() async throws {
        let id = await hub.createRegistrationID()
        let etags = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...20 {
                group.addTask { try await hub.putRegistration(id, try description(number), ifMatch: nil).etag }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(etags.sorted() == Array(1...20))
        #expect(try await hub.registrations(.all, page: Page()).registrations.map(\.etag) == [20])
    }

    @Test func `Of several writes with the same condition one succeeds`() async throws {
        let registration = try await bench.register(.phone(1))
        let results = await withTaskGroup(of: String?.self) { group in
            for number in 2...9 {
                group.addTask {
                    await refusal { try await hub.putRegistration(registration.id, try description(number), ifMatch: 1) }?.code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0 == nil }.count == 1)
        #expect(results.compactMap(\.self) == Array(repeating: "hub.precondition_failed", count: 7))
    }

    @Test func `A reopened hub has all confirmed changes`() async throws {
        let registration = try await bench.register(.phone(1), tags: ["a", "B"], template: #"{"aps":{"alert":"$(x)"}}"#)
        let deleted = try await bench.register(.phone(2))
        try await hub.deleteRegistration(deleted.id, ifMatch: nil)
        let third = try await bench.register(.phone(3))
        let tags = [try Tag("pad")]
        try await hub.putInstallation(
            Installation(
                id: "pad", userID: "alice", handle: .phone(4), tags: tags,
                templates: [
                    "news": InstallationTemplate(body: #"{"aps":{"alert":"$(text)"}}"#)
                ]))
        let again = try await bench.reopened()
        #expect(try await again.registrations(.all, page: Page()) == hub.registrations(.all, page: Page()))
        #expect(try await again.installation("pad") == hub.installation("pad"))
        #expect(try await again.registration(registration.id) == registration)
        #expect(try await again.registrations(.tag(try Tag("b")), page: Page()).registrations == [registration])
        let gone = await refusal { try await again.putRegistration(deleted.id, try description(9), ifMatch: nil) }
        #expect(gone?.code == "hub.gone")
        // The free row was used by the third registration, and is not free any more.
        _ = try await again.createRegistration(try description(10))
        let rows = try await bench.store.load().registrations.map(\.row)
        #expect(rows == Array(0..<UInt32(rows.count)))
        #expect(try await again.registration(third.id) == third)
    }

    @Test func `Registrations that expired while no hub ran are gone when it is reopened`() async throws {
        let bench = try HubBench(registrationTTL: .seconds(60))
        let registration = try await bench.register(.phone(1))
        bench.advance(by: .seconds(61))
        let again = try await bench.reopened()
        #expect(await refusal { try await again.registration(registration.id) }?.code == "hub.not_found")
        await bench.settle()
        let stored = try await bench.store.load()
        #expect(stored.registrations.isEmpty && stored.tombstones[registration.id]?.reason == .expired)
    }

    // MARK: - Notifications

    @Test func `An accepted notification is delivered in the background`() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        let accepted = try await hub.accept(.alert(to: "a"))
        #expect(accepted.outcome.state == .enqueued && !accepted.isRepeated)
        await bench.settle()
        let outcome = try await hub.outcome(of: accepted.outcome.id)
        #expect(outcome.state == .completed && outcome.sent == 1 && outcome.devices.map(\.handle) == [.phone(1)])
        #expect(try await hub.finish(accepted.outcome.id) == outcome)
    }

    @Test func `A notification that cannot be stored is not accepted and not sent`() async throws {
        try await bench.register(.phone(1))
        bench.store.refuse([.accept])
        #expect(await refusal { try await hub.accept(.alert()) }?.status == 503)
        #expect(await refusal { try await hub.send(.alert()) }?.status == 503)
        #expect(await refusal { try await hub.schedule(.alert(), at: HubBench.startTime + .seconds(9)) }?.status == 503)
        await bench.settle()
        #expect(bench.connector.batches.isEmpty)
    }

    @Test func `The same key and request are one notification, and the key is rejected for another request`() async throws {
        try await bench.register(.phone(1))
        let first = try await hub.accept(.alert("One"), idempotencyKey: "k-1")
        let again = try await hub.accept(.alert("One"), idempotencyKey: "k-1")
        #expect(again.isRepeated && again.outcome.id == first.outcome.id)
        await bench.settle()
        #expect(try await hub.accept(.alert("One"), idempotencyKey: "k-1").outcome.state == .completed)
        for other in [
            try NotificationRequest.alert("Two"), try .alert("One", to: "a"), try .properties(["a": "b"]),
        ] {
            let error = await refusal { try await hub.accept(other, idempotencyKey: "k-1") }
            #expect(error?.code == "hub.idempotency_key" && error?.status == 422)
            #expect(error?.message.contains("notification \(first.outcome.id); not sent") == true)
        }
        let later = await refusal { try await hub.accept(.alert("One"), at: HubBench.startTime + .seconds(9), idempotencyKey: "k-1") }
        #expect(later?.code == "hub.idempotency_key")
        await bench.settle()
        #expect(bench.connector.batches.count == 1)
        for key in ["", "a b", "ä", String(repeating: "k", count: 256)] {
            #expect(await refusal { try await hub.accept(.alert(), idempotencyKey: key) }?.status == 400)
        }
    }

    @Test func `Many simultaneous notifications are all delivered, each once`() async throws {
        try await bench.register(.phone(1))
        let count = 1000
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { _ = try await hub.accept(.alert("\(number)")) } }
            try await group.waitForAll()
        }
        await bench.settle()
        #expect(bench.connector.batches.count == count)
        #expect(Set(bench.connector.bodies).count == count)
        #expect(try await bench.store.unfinished(after: 0, limit: 10).isEmpty)
        #expect(await hub.backlog == 0)
    }

    @Test func `An accepted notification that was not delivered is delivered by the next process`() async throws {
        try await bench.register(.phone(1))
        // A process that crashes before it delivers anything.
        let hub = try await bench.reopened(HubSettings(limits: HubSettings.Limits(concurrentNotifications: 0)))
        let waiting = try await hub.accept(.alert("now")).outcome.id
        let scheduled = try await hub.schedule(.alert("later"), at: HubBench.startTime + .seconds(60)).id
        #expect(bench.connector.batches.isEmpty)
        await hub.stop()
        let again = try await bench.reopened()
        await bench.settle()
        #expect(bench.connector.bodies.count == 2)
        #expect(try await again.outcome(of: waiting).state == .completed)
        #expect(try await again.outcome(of: scheduled).startedAt == HubBench.startTime + .seconds(60))
        let next = try await again.accept(.alert("more")).outcome.id
        #expect(next == "n-0003")
        await bench.settle()
    }

    @Test func `A device whose outcome was stored gets nothing again`() async throws {
        for number in 1...5 { try await bench.register(.phone(number)) }
        let stored = try await hub.accept(.alert()).outcome
        await bench.settle()
        let devices = try await hub.outcome(of: stored.id).devices
        // As if the process had crashed after two devices.
        var outcome = stored
        outcome.state = .processing
        outcome.times.startedAt = HubBench.startTime
        outcome.tally.count(devices.prefix(2))
        let store = BreakableStore(bench.store)
        let request = try await hub.notification(stored.id).request
        let half = StoredNotification(
            sequence: 2, request: request,
            outcome: NotificationOutcome(
                id: "n-0002", state: .enqueued, tags: nil, times: NotificationTimes(enqueuedAt: HubBench.startTime)))
        _ = try await store.accept(half)
        outcome.id = "n-0002"
        try await store.record(NotificationProgress(sequence: 2, outcome: outcome, devices: Array(devices.prefix(2))))
        let again = try await bench.reopened()
        await bench.settle()
        let ended = try await again.outcome(of: "n-0002")
        #expect(ended.state == .completed && ended.sent == 5 && ended.devices.count == 5)
        #expect(bench.connector.batches.last?.handles == (3...5).map { .phone($0) })
    }

    @Test func `The end is stored as soon as the disk has space again`() async throws {
        try await bench.register(.phone(1))
        bench.store.refuse([.record])
        let id = try await hub.accept(.alert()).outcome.id
        try await until { !bench.connector.batches.isEmpty }
        try await bench.untilSomebodySleeps()
        #expect(try await hub.outcome(of: id).state == .completed)
        #expect(try await bench.store.notification(1)?.outcome.state == .enqueued)
        bench.store.refuse([])
        await bench.settle()
        #expect(try await bench.store.notification(1)?.outcome.state == .completed)
        #expect(bench.connector.batches.count == 1)
    }

    @Test func `A cancellation that cannot be stored leaves the notification scheduled`() async throws {
        try await bench.register(.phone(1))
        let id = try await hub.schedule(.alert(), at: HubBench.startTime + .seconds(60)).id
        bench.store.refuse([.record])
        #expect(await refusal { try await hub.cancel(notification: id) }?.status == 503)
        bench.store.refuse([])
        await bench.settle()
        #expect(try await hub.outcome(of: id).state == .completed)
    }

    @Test func `An invalid token whose removal cannot be stored stays registered, and is removed the next time`() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        bench.connector.script(.phone(1), .rejected(.invalidHandle()))
        bench.store.refuse([.commit])
        let outcome = try await bench.send(to: "a")
        #expect(outcome.devices.map(\.isRegistrationRemoved) == [false])
        bench.store.refuse([])
        #expect(try await bench.send(to: "a").devices.map(\.isRegistrationRemoved) == [true])
        #expect(try await bench.send(to: "a").state == .noTargetFound)
    }

    @Test func `A stopped hub rejects changes and still shows its data`() async throws {
        let registration = try await bench.register(.phone(1))
        try await hub.putInstallation(Installation(id: "pad", handle: .phone(4)))
        let later = try await hub.schedule(.alert(), at: HubBench.startTime + .seconds(60)).id
        await hub.stop()
        let before = try await bench.store.load()
        let attempts: [() async throws -> Void] = [
            { try await bench.register(.phone(2)) },
            { _ = try await hub.putRegistration(registration.id, try description(3), ifMatch: nil) },
            { try await hub.deleteRegistration(registration.id, ifMatch: nil) },
            { try await hub.putInstallation(Installation(id: "phone", handle: .phone(5))) },
            { try await hub.patchInstallation("pad", []) }, { try await hub.deleteInstallation("pad") },
            { _ = try await hub.accept(.alert()) }, { _ = try await hub.send(.alert()) }, { try await hub.cancel(notification: later) },
        ]
        for attempt in attempts {
            let error = await refusal { try await attempt() }
            #expect(error?.code == "hub.stopped" && error?.status == 503 && error?.isRetryable == true)
        }
        #expect(try await bench.store.load() == before)
        #expect(try await hub.registrations(.all, page: Page()).registrations.contains(registration))
        #expect(try await hub.outcome(of: later).state == .scheduled)
    }

    @Test func `Tokens that become invalid together are removed in one change`() async throws {
        for number in 1...3 {
            try await bench.register(.phone(number))
            bench.connector.script(.phone(number), .rejected(.invalidHandle()))
        }
        for id in ["pad", "tab"] { try await hub.putInstallation(Installation(id: id, handle: .phone(3), tags: [])) }
        let before = bench.store.removals.count
        let outcome = try await hub.send(.alert())
        #expect(outcome.devices.allSatisfy { $0.isRegistrationRemoved || $0.outcome == .skipped })
        #expect(Array(bench.store.removals.dropFirst(before)) == [5])
        #expect(try await hub.installations(.all, page: Page()).installations.map(\.isPushChannelExpired) == [true, true])
    }

    @Test func `Changing the time of the alarm cancels no notification`() async throws {
        try await bench.register(.phone(1))
        let later = try await hub.schedule(.alert("later"), at: HubBench.startTime + .seconds(60)).id
        try await bench.untilSomebodySleeps()
        // Each send is due at once, so the alarm moves there and back. Tasks of earlier alarms end in any order.
        for _ in 0..<200 { _ = try await hub.schedule(.alert(), at: HubBench.startTime + .seconds(-1)) }
        for _ in 0..<1000 { await Task.yield() }
        #expect(try await hub.outcome(of: later).state == .scheduled)
        await bench.settle()
        #expect(try await hub.outcome(of: later).state == .completed)
    }

    @Test func `A delivery interrupted by a graceful stop is continued by the next process`() async throws {
        try await bench.register(.phone(1))
        let hub = hub
        let stopping = Mutex<Task<Void, Never>?>(nil)
        bench.connector.script(.phone(1), .unknown(reason: "the connection was closed"), .accepted(id: "again"))
        bench.connector.during { _ in
            // The stop cancels the delivery while its request is in flight.
            let task = Task { await hub.stop() }
            stopping.withLock { $0 = task }
            while !Task.isCancelled { await Task.yield() }
        }
        let id = try await hub.accept(.alert()).outcome.id
        try await until { stopping.withLock({ $0 != nil }) }
        await stopping.withLock { $0 }?.value
        #expect(try await bench.store.notification(1)?.outcome.state.isFinal == false)
        bench.connector.during { _ in }
        let again = try await bench.reopened()
        await bench.settle()
        let outcome = try await again.outcome(of: id)
        #expect(outcome.state == .completed && outcome.sent == 1 && outcome.failed == 0)
    }
}
