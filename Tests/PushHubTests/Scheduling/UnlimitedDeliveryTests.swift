import PushHub
import PushModel
import Support
import Testing

/// A hub that delivers any number of notifications at a time.
@Suite struct UnlimitedDeliveryTests {
    @Test func `without a limit of concurrent notifications, each is delivered, from the start or from a change on`() async throws {
        let bench = try HubBench()
        try await bench.register(.phone(1))
        for first in [Int.max, 1] {
            let hub = try await bench.reopened(
                HubSettings(
                    limits: HubSettings.Limits(concurrentNotifications: first), dispatch: HubSettings.Dispatch(isConcurrent: true)))
            var ids: [String] = []
            for _ in 1...50 { ids.append(try await hub.accept(.alert()).outcome.id) }
            await hub.change(concurrentNotifications: .max)
            await bench.settle()
            for id in ids { #expect(try await hub.outcome(of: id).state == .completed) }
            await hub.stop()
        }
    }
}
