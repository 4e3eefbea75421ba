import Delivery
import Glibc
import PushHub
import PushModel
import Storage

/// Measures the pipeline from the durable accept to the stored outcome: a broadcast to all devices of a hub, through its outbox, to a sink.
///
/// Prints the sent pushes, the elapsed seconds, the CPU seconds of the process, for sending only, and the largest resident memory
/// of the process in MiB.
struct PipelineRun {
    let sink: Sink
    /// Opens a hub that `prepare` has written.
    let file: String

    /// Writes a hub of APNs registrations with five tags each, one of them unique.
    static func prepare(file: String, devices: Int) async throws {
        let storage = try await SQLiteStorage.open(file, seal: .bench)
        let store = storage.namespace.store(ofHub: 1)
        let random = SeededRandom(seed: 1)
        for first in stride(from: 0, to: devices, by: 5_000) {
            var change = RegistrationChange()
            for number in first..<min(first + 5_000, devices) {
                let tags = [
                    "follows_\(number % 6)", "promo_\(number % 2)", "location_City\(number % 50)", "version_5.\(number % 8)",
                    "username:user-\(number)",
                ]
                let registration = Registration(
                    id: RegistrationID(random: random), etag: 1, expiration: .distantFuture, updatedAt: Timestamp(seconds: 1_767_603_600),
                    description: RegistrationDescription(
                        handle: .apns(token: random.hex(64).uppercased()), tags: try tags.map { try Tag($0) }))
                change.puts.append(RegistrationRow(row: UInt32(number), registration: registration))
            }
            try await store.commit(change)
        }
        try await storage.close()
    }

    func run() async throws {
        let storage = try await SQLiteStorage.open(file, seal: .bench)
        let store = storage.namespace.store(ofHub: 1)
        let transport = try sink.transport()
        let connector = try sink.apns(transport)
        let environment = HubEnvironment(
            clock: MachineClock(), random: MachineRandom(), start: { work in Task { await work() } })
        let hub = NotificationHub(
            environment: environment, connectors: [connector], store: store, loaded: try await store.load(into: HubLoader()),
            settings: HubSettings(acceptance: HubSettings.Acceptance(naming: .unique), dispatch: HubSettings.Dispatch(isConcurrent: true)))
        let content = NotificationContent.native([.apns: NativePayload(body: Sink.body)])
        // Opens the connection, and signs the token that lasts for an hour.
        _ = try await hub.send(NotificationRequest(audience: .device(.apns(token: String(repeating: "0", count: 64))), content: content))
        let start = ProcessUsage.now
        let accepted = try await hub.accept(NotificationRequest(audience: .everyone, content: content))
        let outcome = try await hub.finish(accepted.outcome.id)
        let spent = ProcessUsage.now - start
        print("\(outcome.sent) \(spent.passed) \(spent.processor) \(ProcessUsage.residentPeak)")
        await hub.stop()
        await transport.shutdown()
        try await storage.close()
    }
}
