import PushModel
import Testing

@testable import RemoteHub

/// Send options as headers of the push services, for a hub that has no options of its own.
@Suite struct PushOptionsWriterTests {
    private let now = Timestamp(seconds: 1_800_000_000)

    private func headers(_ platform: Platform, _ options: PushOptions, given: [PushHeader] = []) -> [String] {
        let payload = NativePayload(body: [], headers: given)
        return PushOptionsWriter(options: options, now: now).written(into: payload, for: platform).headers
            .map { "\($0.name): \($0.value)" }
    }

    @Test(arguments: [(PushOptions.Priority.high, "10", "1"), (.normal, "5", "2"), (.low, "1", "3")])
    func `a priority becomes the number of the push service`(priority: PushOptions.Priority, apns: String, wns: String) {
        #expect(headers(.apns, PushOptions(priority: priority)) == ["apns-priority: \(apns)"])
        #expect(headers(.wns, PushOptions(priority: priority)) == ["X-WNS-PRIORITY: \(wns)"])
    }

    @Test func `headers of the sender are unchanged`() {
        let given = PushHeader("x-wns-priority", "4")
        #expect(headers(.wns, PushOptions(priority: .high), given: [given]) == ["x-wns-priority: 4"])
    }
}
