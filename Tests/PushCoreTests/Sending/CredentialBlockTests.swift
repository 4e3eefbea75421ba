import Support
import Testing

@testable import PushCore

/// A push service that refuses the hub's credential for the time being is not asked for each device.
@Suite struct CredentialBlockTests {
    private static let devices = 200
    private static let recovery = HubBench.dawn + .seconds(120)

    /// A hub whose service refuses the credential until two minutes have passed.
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

    private func asked(_ bench: HubBench) -> Int {
        bench.connector.deliveries.filter { $0.time < Self.recovery }.reduce(0) { $0 + $1.batch.handles.count }
    }

    @Test(arguments: [false, true])
    func `after the first batch there is a device at a time, and all are reached once it is over`(isSideBySide: Bool) async throws {
        let bench = try await bench()
        let hub = try await bench.reopened(HubSettings(isSideBySide: isSideBySide, devicesPerBatch: 10, batchesUnderWay: 1))
        let outcome = try await bench.passingTime { try await hub.send(.alert("Hello")) }
        #expect(outcome.counts == [.apns: [.success: Self.devices]])
        // Tries after 5, 10, 20, 40 seconds.
        #expect(asked(bench) <= 10 + 5, "\(asked(bench))")
    }

    @Test func `other notifications ask no more, and the hub names the refusal`() async throws {
        let bench = try await bench()
        let hub = try await bench.reopened(HubSettings(isSideBySide: true, devicesPerBatch: 10, batchesUnderWay: 1))
        _ = try await hub.accept(.alert("First"))
        try await until { await !hub.troubles().isEmpty }
        let block = CredentialBlock(reason: "TooManyProviderTokenUpdates", explanation: "too many tokens")
        let trouble = DeliveryTrouble(.apns, .openCircuit(origin: nil, nextTry: HubBench.dawn + .seconds(5), block: block))
        #expect(await hub.troubles() == [trouble])
        for number in 1...10 { _ = try await hub.accept(.alert("Number \(number)")) }
        await bench.settle()
        // Of 2,200 devices the first batch, and one of each notification at each of four tries.
        #expect(asked(bench) <= 10 + 4 * 11, "\(asked(bench))")
        #expect(await hub.troubles().isEmpty)
        #expect(bench.connector.deliveries.reduce(0) { $0 + $1.batch.handles.count } >= 11 * Self.devices)
        #expect(!bench.events.contains { $0.isWarning }, "\(bench.events.filter(\.isWarning).map(\.text))")
        await hub.stop()
    }
}
