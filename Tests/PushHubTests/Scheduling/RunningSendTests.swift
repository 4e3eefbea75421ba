import PushHub
import PushModel
import Support
import Synchronization
import Testing

/// Sends in progress while registrations are added, changed and removed.
@Suite struct RunningSendTests {
    private let bench: HubBench

    init() throws { bench = try HubBench() }

    /// Sends to four phones, one after the other, and runs `work` once while the first push is in flight.
    private func send(
        doing work: @escaping @Sendable (NotificationHub, [Registration]) async throws -> Void
    ) async throws -> (hub: NotificationHub, outcome: NotificationOutcome) {
        let registrations = try await [1, 2, 3, 4].asyncMap { try await bench.register(.phone($0), tags: ["a"]) }
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(devicesPerStep: 1)))
        let failure = Mutex<(any Error)?>(nil)
        let isDone = Mutex(false)
        bench.connector.during { _ in
            guard
                !isDone.withLock({ done in
                    defer { done = true }
                    return done
                })
            else { return }
            do { try await work(hub, registrations) } catch { failure.withLock { $0 = error } }
        }
        let outcome = try await hub.send(.alert(to: "a"))
        if let failure = failure.withLock({ $0 }) { throw failure }
        return (hub, outcome)
    }

    private var reached: [DeviceHandle] { bench.connector.batches.flatMap(\.handles) }

    @Test func `A registration removed before its turn gets nothing, and no other device gets the push instead`() async throws {
        let (hub, outcome) = try await send { hub, registrations in
            try await hub.deleteRegistration(registrations[2].id, ifMatch: nil)
            // It has another tag, so the send does not match it.
            _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(9), tags: [try Tag("b")]))
        }
        #expect(reached == [.phone(1), .phone(2), .phone(4)])
        #expect(outcome.state == .completed && outcome.sent == 3 && outcome.failed == 0)
        let skipped = try #require(outcome.devices.first { $0.outcome == .skipped })
        #expect(skipped.handle == .phone(3) && skipped.explanation == "the registration was removed before it was sent to")
        #expect(skipped.registrationID != nil && outcome.devices.count == 4)
        // The row is free again once the send has ended.
        #expect(try await bench.store.load().registrations.map(\.row) == [0, 1, 3, 4])
        _ = try await hub.createRegistration(RegistrationDescription(handle: .phone(10)))
        #expect(try await bench.store.load().registrations.map(\.row) == [0, 1, 2, 3, 4])
    }

    @Test func `A changed handle gets the push, and the old one does not`() async throws {
        let (_, outcome) = try await send { hub, registrations in
            _ = try await hub.putRegistration(registrations[2].id, RegistrationDescription(handle: .phone(33)), ifMatch: nil)
        }
        #expect(reached == [.phone(1), .phone(2), .phone(33), .phone(4)])
        #expect(outcome.sent == 4)
    }

    @Test func `A registration that changes its platform before its turn gets nothing`() async throws {
        let (_, outcome) = try await send { hub, registrations in
            _ = try await hub.putRegistration(registrations[1].id, RegistrationDescription(handle: .fcmV1(token: "f")), ifMatch: nil)
        }
        #expect(reached == [.phone(1), .phone(3), .phone(4)])
        #expect(outcome.sent == 3 && outcome.counts[.fcmV1] == [.skipped: 1])
    }

    @Test func `A removed installation is named in the outcome`() async throws {
        try await bench.hub.putInstallation(Installation(id: "pad", handle: .phone(1)))
        try await bench.hub.putInstallation(Installation(id: "tab", handle: .phone(2)))
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(devicesPerStep: 1)))
        bench.connector.during { _ in
            try? await hub.deleteInstallation("tab")
            try? await hub.putInstallation(Installation(id: "other", handle: .phone(3)))
        }
        let outcome = try await hub.send(.alert())
        #expect(outcome.devices.map(\.installationID) == ["pad", "tab"])
        #expect(outcome.devices.map(\.outcome) == [.success, .skipped])
    }

    @Test func `If all registrations were removed the send ends`() async throws {
        let (_, outcome) = try await send { hub, registrations in
            for registration in registrations { try await hub.deleteRegistration(registration.id, ifMatch: nil) }
        }
        #expect(reached == [.phone(1)] && outcome.state == .completed)
        #expect(outcome.counts == [.apns: [.success: 1, .skipped: 3]])
    }
}

/// A hub whose store cannot return rows for a while.
@Suite struct UnreadableStoreTests {
    private let bench: HubBench

    init() throws { bench = try HubBench(registrationTTL: .seconds(60)) }

    @Test func `Changes of existing registrations are rejected, but sends are not`() async throws {
        let first = try await bench.register(.phone(1), tags: ["a"])
        try await bench.hub.putInstallation(Installation(id: "pad", handle: .phone(2), tags: [try Tag("a")]))
        bench.store.refuse([.rows])
        let description = RegistrationDescription(handle: .phone(3), tags: [try Tag("b")])
        let attempts: [() async throws -> Void] = [
            { _ = try await bench.hub.putRegistration(first.id, description, ifMatch: nil) },
            { try await bench.hub.deleteRegistration(first.id, ifMatch: nil) }, { _ = try await bench.hub.registration(first.id) },
            { _ = try await bench.hub.registrations(.all, page: Page()) }, { _ = try await bench.hub.installation("pad") },
            { try await bench.hub.putInstallation(Installation(id: "pad", handle: .phone(4))) },
            { try await bench.hub.deleteInstallation("pad") },
        ]
        for attempt in attempts { #expect(await refusal { try await attempt() }?.code == "storage.unavailable") }
        // A new registration does not reuse a row.
        try await bench.register(.phone(5), tags: ["a"])
        #expect(try await bench.send(to: "a").devices.map(\.handle) == [.phone(1), .phone(2), .phone(5)])
        bench.connector.script(.phone(1), .rejected(.invalidHandle()))
        #expect(try await bench.send(to: "a").devices.map(\.isRegistrationRemoved) == [false, false, false])
        bench.store.refuse([])
        #expect(try await bench.send(to: "a").devices.map(\.isRegistrationRemoved) == [true, false, false])
        #expect(try await bench.hub.installation("pad").handle == .phone(2))
    }

    @Test func `An expired registration gets nothing, and its row is reused only once its tags are known`() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        bench.advance(by: .seconds(61))
        bench.store.refuse([.rows])
        #expect(await bench.hub.size().registrations == 0)
        #expect(try await bench.send(to: "a").state == .noTargetFound)
        try await bench.untilSomebodySleeps()
        try await bench.register(.phone(2), tags: ["b"])
        #expect(try await bench.send(to: "a").state == .noTargetFound)
        #expect(try await bench.send(to: "b").devices.map(\.handle) == [.phone(2)])
        bench.store.refuse([])
        await bench.settle()
        try await bench.register(.phone(3), tags: ["c"])
        #expect(try await bench.store.load().registrations.map(\.row) == [0, 1])
        #expect(try await bench.send(to: "a").state == .noTargetFound)
    }

    @Test func `Tags of registrations that have just expired are not counted`() async throws {
        try await bench.register(.phone(1), tags: ["a", "b"])
        bench.advance(by: .seconds(30))
        try await bench.register(.phone(2), tags: ["b"])
        bench.advance(by: .seconds(31))
        bench.store.refuse([.commit])
        let tags = try await bench.hub.tags(prefix: "", page: Page()).tags
        #expect(tags.map(\.tag.text) == ["b"] && tags.map(\.registrations) == [1])
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
