import Support
import Testing

@testable import PushHub
@testable import PushModel

/// No device waits longer than the retry window for a push service that does not answer.
@Suite struct RetryWindowTests {
    private static let devices = 60

    private func bench() async throws -> HubBench {
        let bench = try HubBench()
        for number in 0..<Self.devices {
            let handle = DeviceHandle.apns(token: String(repeating: "0", count: 62) + String(number + 16, radix: 16, uppercase: true))
            try await bench.register(handle)
            bench.connector.script(handle, .transient(.busy, retryAfter: nil))
        }
        return bench
    }

    @Test(arguments: [false, true]) func `a device is given up after the retry window, with an open or closed circuit`(isConcurrent: Bool)
        async throws
    {
        let bench = try await bench()
        let hub = try await bench.reopened(
            HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: isConcurrent, retryWindow: .seconds(60))))
        let outcome = try await bench.passingTime {
            try await hub.send(.alert("Hello"))
        }
        #expect(outcome.counts == [.apns: [.pnsUnavailable: Self.devices]])
        #expect(outcome.devices.allSatisfy { $0.reason == "ServiceUnavailable" })
        // The circuit opened with the first batch. Then one device was tried at a time.
        #expect(bench.connector.batches.dropFirst().allSatisfy { $0.handles.count == 1 })
        let ended = try #require(outcome.endedAt)
        #expect(ended - HubBench.startTime <= .seconds(120))
    }

    @Test func `a notification that expired while the circuit was open is not sent`() async throws {
        let bench = try await bench()
        let hub = try await bench.reopened(HubSettings(dispatch: HubSettings.Dispatch(isConcurrent: true)))
        var request = try NotificationRequest.alert("Hello")
        request.options.expiration = HubBench.startTime + .seconds(10)
        bench.connector.during { [clock = bench.clock, connector = bench.connector] batch in
            // The service recovers after the notification has expired.
            guard clock.now > HubBench.startTime + .seconds(10) else { return }
            for handle in batch.handles { connector.script(handle, .accepted(id: "late")) }
        }
        let outcome = try await bench.passingTime { [request] in try await hub.send(request) }
        #expect(outcome.counts == [.apns: [.pnsUnavailable: Self.devices]])
        #expect(bench.connector.deliveries.allSatisfy { $0.time <= HubBench.startTime + .seconds(10) })
    }

    @Test func `a device without an attempt waits no longer than others for a service that does not answer`() async throws {
        let bench = try await bench()
        let hub = try await bench.reopened(
            HubSettings(
                dispatch: HubSettings.Dispatch(isConcurrent: true, devicesPerBatch: 25, batchesInFlight: 1, retryWindow: .seconds(60))))
        let outcome = try await bench.passingTime { try await hub.send(.alert("Hello")) }
        #expect(outcome.counts == [.apns: [.pnsUnavailable: Self.devices]])
        #expect(outcome.devices.contains { $0.reason == "Overdue" })
        let ended = try #require(outcome.endedAt)
        #expect(ended - HubBench.startTime <= .seconds(180))
    }
}
