import Crypto
import HTTPTypes
import PushModel
import Storage
import Support
import Synchronization
import Testing

@testable import Delivery

/// The webhook that reports removed devices to an app's backend.
@Suite struct PrunedWebhookTests {
    private static let secret = Secret("a secret of the test")

    /// The store of a hub, and the events that the webhook reports.
    private final class Desk: PrunedDeviceQueue {
        let name = "hub"
        let store = BreakableStore(MemoryHubStore())
        let clock = VirtualClock(now: HubBench.startTime)
        private let notes = Mutex<[PrunedWebhook.Event]>([])

        var events: [PrunedWebhook.Event] { notes.withLock { $0 } }

        func webhook(_ transport: any PushTransport, _ address: String = "https://app.example/pruned?a=1") throws -> PrunedWebhook {
            PrunedWebhook(
                PrunedWebhook.Settings(address: try #require(WebAddress(address)), secret: PrunedWebhookTests.secret), transport: transport,
                clock: clock, random: SeededRandom(seed: 1)
            ) { [self] event in notes.withLock { $0.append(event) } }
        }

        func prune(_ numbers: ClosedRange<Int>) async throws {
            var change = RegistrationChange()
            change.pruned = numbers.map { number in
                PrunedDevice(
                    .registration(
                        Registration(
                            id: RegistrationID(random: SeededRandom(seed: UInt64(number))), etag: 1, expiration: .distantFuture,
                            updatedAt: HubBench.startTime, description: RegistrationDescription(handle: .phone(number), tags: []))),
                    handle: .phone(number), reason: "Unregistered", notificationID: "n-1", time: HubBench.startTime)
            }
            try await store.commit(change)
        }

        func restore(_ numbers: [Int64]) async throws {
            var change = RegistrationChange()
            (change.restored, change.restoredAt) = (numbers, HubBench.startTime)
            try await store.commit(change)
        }

        func unreported(limit: Int) async throws(PushError) -> [PrunedDevice] { try await store.unreportedPruned(limit: limit) }
        func acknowledge(upTo number: Int64) async throws(PushError) { try await store.acknowledgePruned(upTo: number) }
        func dropUnreported(beyond most: Int) async throws(PushError) -> Int { try await store.dropUnreportedPruned(beyond: most) }
    }

    private func numbers(_ exchange: ScriptedTransport.Exchange) throws -> [Int] {
        try JSON(parsing: exchange.body)["items"]?.array?.compactMap { $0["number"]?.int } ?? []
    }

    @Test func `a request has the hub, the batch and complete handles, and its signature covers the time`() async throws {
        let (desk, transport) = (Desk(), ScriptedTransport([]))
        var change = RegistrationChange()
        change.pruned = [
            PrunedDevice(
                .installation(id: "pad", userID: "ana", tags: [try Tag("news")]), handle: .phone(7), reason: "ExpiredToken",
                notificationID: "n-9", time: HubBench.startTime)
        ]
        try await desk.store.commit(change)
        #expect(try await desk.webhook(transport).report([desk]) == PrunedWebhook.interval)
        let request = try #require(transport.all.first)
        #expect(request.request.method == .post && request.request.path == "/pruned?a=1" && request.request.authority == "app.example")
        let body = try JSON(parsing: request.body)
        let item: JSON = [
            "event": "pruned", "number": 1, "platform": "apns", "handle": .string(DeviceHandle.phone(7).text), "installationId": "pad",
            "userId": "ana", "tags": ["news"], "reason": "ExpiredToken", "notificationId": "n-9", "time": "2026-01-05T09:00:00.000Z",
        ]
        #expect(body["hub"] == "hub" && body["items"] == [item])
        #expect(body["batch"]?.string == request.header("Idempotency-Key"))
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("1767603600.".utf8) + request.body, using: SymmetricKey(data: Array(Self.secret.reveal().utf8)))
        let digits = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(request.header("PushHost-Signature") == "t=1767603600,v1=\(digits)")
        #expect(!request.headers.joined().contains(Self.secret.reveal()))
        #expect(desk.events == [.delivered(hub: "hub", 1)])
    }

    @Test func `every device is reported once, in order, in batches`() async throws {
        let (desk, transport) = (Desk(), ScriptedTransport([]))
        try await desk.prune(1...1100)
        let webhook = try desk.webhook(transport)
        _ = await webhook.report([desk])
        #expect(try transport.all.map { try numbers($0).count } == [500, 500, 100])
        #expect(try transport.all.flatMap { try numbers($0) } == Array(1...1100))
        _ = await webhook.report([desk])
        #expect(transport.all.count == 3)
    }

    @Test func `an unacknowledged batch is repeated unchanged, with growing pauses`() async throws {
        let failures: [ScriptedTransport.Step] = [
            .answer(500), .fail(.unknown("broken off")), .fail(.notSent("nobody there")), .answer(404), .answer(302),
        ]
        let (desk, transport) = (Desk(), ScriptedTransport(failures))
        try await desk.prune(1...3)
        let webhook = try desk.webhook(transport)
        var delivered: [PrunedWebhook.Event] = []
        let reasons = ["it answers 500", "broken off", "nobody there", "it answers 404", "302: redirects are not followed"]
        for (number, why) in reasons.enumerated() {
            let pause = await webhook.report([desk])
            let whole = Duration.seconds(1 << number)
            #expect(pause >= whole / 2 && pause <= whole)
            delivered.append(.failed(why, pause: pause, isFirst: number == 0))
        }
        // Every attempt is an event, so that all can be counted.
        #expect(desk.events == delivered)
        // Another process reports the same devices.
        _ = await webhook.report([desk])
        #expect(Set(transport.all.compactMap { $0.header("Idempotency-Key") }).count == 1 && transport.all.count == 6)
        #expect(desk.events.suffix(2) == [.delivered(hub: "hub", 3), .hasRecovered])
    }

    @Test func `pauses are at most five minutes, or as long as the backend asks, up to an hour`() async throws {
        let steps: [ScriptedTransport.Step] =
            Array(repeating: .answer(503), count: 12) + [
                .answer(429, ["Retry-After": "1000"]), .answer(503, ["Retry-After": "80000"]), .answer(410),
                .fail(.forbidden("no public address")),
            ]
        let (desk, transport) = (Desk(), ScriptedTransport(steps))
        try await desk.prune(1...1)
        let webhook = try desk.webhook(transport)
        var pauses: [Duration] = []
        for _ in steps { pauses.append(await webhook.report([desk])) }
        #expect(pauses.prefix(12).allSatisfy { $0 <= .seconds(300) } && pauses[11] >= .seconds(150))
        #expect(pauses.suffix(4) == [.seconds(1000), .seconds(3600), .seconds(3600), .seconds(3600)])
    }

    @Test func `after a refusal for size, smaller requests follow`() async throws {
        let (desk, transport) = (Desk(), ScriptedTransport([.answer(413), .answer(413)]))
        try await desk.prune(1...10)
        #expect(try await desk.webhook(transport).report([desk]) == PrunedWebhook.interval)
        #expect(try transport.all.map { try numbers($0).count } == [10, 5, 2, 2, 2, 2, 2])
        #expect(try transport.all.dropFirst(2).flatMap { try numbers($0) } == Array(1...10))
    }

    @Test func `a device that is restored before the report is not reported, and after the report it is`() async throws {
        let (desk, transport) = (Desk(), ScriptedTransport([]))
        try await desk.prune(1...3)
        try await desk.restore([2])
        let webhook = try desk.webhook(transport)
        _ = await webhook.report([desk])
        try await desk.restore([3])
        _ = await webhook.report([desk])
        let events = try transport.all.map { exchange in
            try JSON(parsing: exchange.body)["items"]?.array?.map { "\($0["event"]?.string ?? "") \($0["number"]?.int ?? 0)" } ?? []
        }
        #expect(events == [["pruned 1", "pruned 3"], ["restored 4"]])
        let handle = try JSON(parsing: try #require(transport.all.last).body)["items"]?.array?.first?["handle"]?.string
        #expect(handle == DeviceHandle.phone(3).text)
    }

    @Test func `when the acknowledgement cannot be stored, the batch is reported again`() async throws {
        let (desk, transport) = (Desk(), ScriptedTransport([]))
        try await desk.prune(1...2)
        let webhook = try desk.webhook(transport)
        desk.store.refuse([.commit])
        _ = await webhook.report([desk])
        desk.store.refuse([])
        _ = await webhook.report([desk])
        #expect(try transport.all.map { try numbers($0) } == [[1, 2], [1, 2]])
        #expect(desk.events.contains(.delivered(hub: "hub", 2)))
    }

    @Test func `when nothing is pending any more, a series of failures ends without a report`() async throws {
        let (desk, transport) = (Desk(), ScriptedTransport([.answer(500)]))
        let webhook = try desk.webhook(transport)
        desk.store.refuse([.read])
        _ = await webhook.report([desk])
        desk.store.refuse([])
        _ = await webhook.report([desk])
        #expect(desk.events.count == 2 && desk.events.last == .nothingPending)
        try await desk.prune(1...1)
        _ = await webhook.report([desk])
        try await desk.restore([1])
        try await desk.acknowledge(upTo: 9)
        _ = await webhook.report([desk])
        #expect(desk.events.count == 4 && desk.events.last == .nothingPending)
    }

    @Test func `it works over a real connection, and repeats until it is cancelled`() async throws {
        let desk = Desk()
        let server = try await CannedServer(.answering("HTTP/1.1 204 No Content\r\n\r\n"))
        let transport = HTTPClientTransport(limits: .init().generous)
        try await desk.prune(1...2)
        let webhook = try desk.webhook(transport, "http://127.0.0.1:\(server.port)/pruned")
        let task = Task { await webhook.run { [desk] } }
        try await until { desk.clock.hasSleepingTasks }
        #expect(server.requests.count == 1)
        try await desk.prune(3...3)
        _ = desk.clock.advanceToNextDeadline()
        try await until { server.requests.count >= 2 }
        task.cancel()
        await task.value
        #expect(server.requests[0].hasPrefix("POST /pruned HTTP/1.1\r\n") && server.requests[1].contains(DeviceHandle.phone(3).text))
        await transport.shutdown()
        try await server.stop()
    }

    @Test func `it does not reach the machine's own network`() async throws {
        let desk = Desk()
        let server = try await CannedServer(.answering("HTTP/1.1 204 No Content\r\n\r\n"))
        let transport = HTTPClientTransport(
            network: PublicNetwork(clock: VirtualClock(now: Timestamp(seconds: 0))), limits: .init().generous)
        try await desk.prune(1...1)
        #expect(try await desk.webhook(transport, "http://127.0.0.1:\(server.port)/").report([desk]) == PrunedWebhook.hour)
        #expect(server.requests.isEmpty)
        await transport.shutdown()
        try await server.stop()
    }
}
