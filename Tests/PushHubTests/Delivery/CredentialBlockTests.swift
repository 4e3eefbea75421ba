import Support
import Testing

@testable import PushHub
@testable import PushModel

/// While a push service blocks the hub's credential, the hub does not send to every device.
@Suite struct CredentialBlockTests {
    private static let devices = 200
    private static let recovery = HubBench.startTime + .seconds(120)

    /// A hub whose push service blocks the credential for two minutes.
    private func bench() async throws -> HubBench {
        let bench = try HubBench()
        for number in 0..<Self.devices {
            let handle = DeviceHandle.phone(number)
            try await bench.register(handle)
            bench.connector.script(handle, .transient(.blocked, retryAfter: .seconds(1200)))
        }
        bench.connector.during { [clock = bench.clock, connector = bench.connector] batch in
            guard clock.now >= Self.recovery else { return }
            for handle in batch.handles { connector.script(handle, .accepted(id: "late")) }
        }
        return bench
    }

    private func applyHooks(_ bench: HubBench) -> Int {
        bench.connector.deliveries.filter { $0.time < Self.recovery }.reduce(0) { $0 + $1.batch.handles.count }
    }

    @Test(arguments: [false, true])
    func `after the first batch one device is tried at a time, and all are reached once the block ends`(isConcurrent: Bool) async throws {
        let bench = try await bench()
        let hub = try await bench.reopened(
            HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: isConcurrent, devicesPerBatch: 10, batchesInFlight: 1)))
        let outcome = try await bench.passingTime { try await hub.send(.alert("Hello")) }
        #expect(outcome.counts == [.apns: [.success: Self.devices]])
        // Probes after 5, 10, 20 and 40 seconds.
        #expect(applyHooks(bench) <= 10 + 5, "\(applyHooks(bench))")
    }

    @Test func `more notifications cause few more requests, and the hub reports the block`() async throws {
        let bench = try await bench()
        let hub = try await bench.reopened(
            HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true, devicesPerBatch: 10, batchesInFlight: 1)))
        _ = try await hub.accept(.alert("First"))
        try await until { await !hub.issues().isEmpty }
        let block = CredentialBlock(reason: "TooManyProviderTokenUpdates", explanation: "too many tokens")
        let issue = DeliveryIssue(.apns, .openCircuit(origin: nil, nextTry: HubBench.startTime + .seconds(5), block: block))
        #expect(await hub.issues() == [issue])
        for number in 1...10 { _ = try await hub.accept(.alert("Number \(number)")) }
        await bench.settle()
        // Of 2,200 devices: the first batch, and one device of each notification at each of four probes.
        #expect(applyHooks(bench) <= 10 + 4 * 11, "\(applyHooks(bench))")
        #expect(await hub.issues().isEmpty)
        #expect(bench.connector.deliveries.reduce(0) { $0 + $1.batch.handles.count } >= 11 * Self.devices)
        #expect(!bench.events.contains { $0.isWarning }, "\(bench.events.filter(\.isWarning).map(\.text))")
        await hub.stop()
    }
}
