import PushHub
import PushModel
import Support
import Synchronization
import Testing

/// Registrations that share a handle: the device gets the push once, even if one of them is removed meanwhile.
@Suite struct DuplicateHandleTests {
    private let bench: HubBench

    init() throws { bench = try HubBench() }

    private var reached: [DeviceHandle] { bench.connector.batches.flatMap(\.handles) }

    /// Runs `work` once, while the push to a device is in flight.
    private func during(_ phone: Int, _ work: @escaping @Sendable () async -> Void) {
        let isDone = Mutex(false)
        bench.connector.during { batch in
            guard batch.handles == [.phone(phone)],
                !isDone.withLock({ done in
                    defer { done = true }
                    return done
                })
            else { return }
            await work()
        }
    }

    @Test(arguments: [0, 1])
    func `A device that was reached before a restart gets nothing again, even if one registration was removed`(leaver: Int) async throws {
        var duplicates: [Registration] = []
        for _ in 0...1 { duplicates.append(try await bench.register(.phone(1), tags: ["a"])) }
        for number in 2...3 { try await bench.register(.phone(number), tags: ["a"]) }
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(devicesPerStep: 1)))
        let stopping = Mutex<Task<Void, Never>?>(nil)
        during(2) { [duplicates] in
            try? await hub.deleteRegistration(duplicates[leaver].id, ifMatch: nil)
            let task = Task { await hub.stop() }
            stopping.withLock { $0 = task }
            while !Task.isCancelled { await Task.yield() }
        }
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        await bench.settle()
        await stopping.withLock { $0 }?.value
        #expect(try await bench.store.notification(1)?.outcome.state.isFinal == false)
        let again = try await bench.reopened()
        await bench.settle()
        let outcome = try await again.outcome(of: id)
        #expect(outcome.state == .completed)
        #expect(reached.filter { $0 == .phone(1) }.count == 1)
        #expect(outcome.counts == [.apns: [.success: 3, .skipped: 1]])
    }

    @Test(arguments: [1, 2, 3], [false, true])
    func `If the next registration in turn was removed, its duplicate gets the push`(leavers: Int, isConcurrent: Bool) async throws {
        try await bench.register(.phone(1), tags: ["a"])
        var duplicates: [Registration] = []
        for _ in 0...2 { duplicates.append(try await bench.register(.phone(2), tags: ["a"])) }
        try await bench.register(.phone(3), tags: ["a"])
        let hub = try await bench.reopened(
            HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: isConcurrent, batchesInFlight: 1, devicesPerStep: 1)))
        during(1) { [duplicates] in
            for duplicate in duplicates.prefix(leavers) { try? await hub.deleteRegistration(duplicate.id, ifMatch: nil) }
        }
        let outcome = try await hub.send(.alert(to: "a"))
        #expect(reached == (leavers == 3 ? [.phone(1), .phone(3)] : [.phone(1), .phone(2), .phone(3)]))
        #expect(outcome.counts == [.apns: [.success: leavers == 3 ? 2 : 3, .skipped: leavers == 3 ? 3 : 2]])
        // Every registration gets the right explanation.
        let told = Dictionary(uniqueKeysWithValues: outcome.devices.map { ($0.registrationID, $0.explanation) })
        for (row, duplicate) in duplicates.enumerated() {
            let expected =
                row < leavers
                ? "the registration was removed before it was sent to"
                : row == leavers ? "accepted by the push service" : "another registration with the same handle received it"
            #expect(told[duplicate.id] == expected)
        }
    }

    @Test func `A failed push is retried, and the next duplicate substitutes a registration removed meanwhile`() async throws {
        var duplicates: [Registration] = []
        for _ in 0...1 { duplicates.append(try await bench.register(.phone(1), tags: ["a"])) }
        bench.connector.script(.phone(1), .transient(.busy, retryAfter: nil), .accepted(id: "late"))
        let hub = bench.hub
        during(1) { [duplicates] in try? await hub.deleteRegistration(duplicates[0].id, ifMatch: nil) }
        let outcome = try await bench.passingTime { try await hub.send(.alert(to: "a")) }
        #expect(reached == [.phone(1), .phone(1)])
        #expect(outcome.devices.map(\.outcome) == [.skipped, .success] && outcome.devices.last?.registrationID == duplicates[1].id)
    }

    @Test(arguments: [0, 1, 2], [false, true])
    func `A registration whose handle changed before its turn is not a duplicate`(mover: Int, isConcurrent: Bool) async throws {
        try await bench.register(.phone(1), tags: ["a"])
        var duplicates: [Registration] = []
        for _ in 0...2 { duplicates.append(try await bench.register(.phone(2), tags: ["a"])) }
        let hub = try await bench.reopened(
            HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: isConcurrent, batchesInFlight: 1, devicesPerStep: 1)))
        during(1) { [duplicates] in
            _ = try? await hub.putRegistration(
                duplicates[mover].id, RegistrationDescription(handle: .phone(3), tags: duplicates[mover].tags), ifMatch: nil)
        }
        let outcome = try await hub.send(.alert(to: "a"))
        #expect(Set(reached) == [.phone(1), .phone(2), .phone(3)] && reached.count == 3)
        #expect(outcome.counts == [.apns: [.success: 3, .skipped: 1]])
        let skipped = outcome.devices.filter { $0.outcome == .skipped }
        #expect(skipped.map(\.handle) == [.phone(2)])
    }

    @Test func `Two registrations that change to the same handle get one push`() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        var duplicates: [Registration] = []
        for _ in 0...2 { duplicates.append(try await bench.register(.phone(2), tags: ["a"])) }
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(batchesInFlight: 1, devicesPerStep: 1)))
        during(1) { [duplicates] in
            for duplicate in duplicates.dropFirst() {
                _ = try? await hub.putRegistration(
                    duplicate.id, RegistrationDescription(handle: .phone(3), tags: duplicate.tags), ifMatch: nil)
            }
        }
        let outcome = try await hub.send(.alert(to: "a"))
        #expect(reached.count == 3 && Set(reached).count == 3 && outcome.counts == [.apns: [.success: 3, .skipped: 1]])
    }

    @Test func `Push variables that the template does not use make no difference`() async throws {
        let body = #"{"aps":{"alert":"$(message)"}}"#
        for variables in [[:], ["v": "1"], ["V": "2", "w": "1"]] {
            try await bench.register(.phone(1), tags: ["a"], template: body, pushVariables: variables)
        }
        for name in ["x", "y"] {
            try await bench.register(
                .phone(2), tags: ["a"], template: #"{"aps":{"alert":"{$(message) + ' ' + $(name)}"}}"#, pushVariables: ["Name": name])
        }
        for _ in 1...40 { try await bench.register(.phone(3), tags: ["a"], template: body, pushVariables: ["v": "\(reached.count)"]) }
        let outcome = try await bench.hub.send(.properties(["message": "Hello"], to: "a"))
        #expect(outcome.counts == [.apns: [.success: 4, .skipped: 41]] && reached.filter { $0 == .phone(2) }.count == 2)
    }

    @Test func `A handle with many registrations gets one push, whichever comes first`() async throws {
        for _ in 1...40 { try await bench.register(.phone(1), tags: ["a"]) }
        for number in 2...4 { try await bench.register(.phone(number), tags: ["a"]) }
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(devicesPerStep: 2)))
        let outcome = try await hub.send(.alert(to: "a"))
        #expect(reached.count == 4 && outcome.counts == [.apns: [.success: 4, .skipped: 39]])
        #expect(Set(outcome.devices.map(\.registrationID)).count == 43)
    }

    @Test func `A cancelled notification counts each registration once`() async throws {
        for phone in [1, 1, 2, 2, 3, 3] { try await bench.register(.phone(phone), tags: ["a"]) }
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true)))
        var request = try NotificationRequest.alert(to: "a")
        request.pace = try Pace("1/m")
        let id = try await hub.accept(request).outcome.id
        try await bench.untilSomebodySleeps()
        try await hub.cancel(notification: id)
        await bench.settle()
        let outcome = try await hub.outcome(of: id)
        #expect(outcome.state == .canceled && outcome.counts == [.apns: [.success: 1, .abandoned: 2, .skipped: 3]])
    }
}
