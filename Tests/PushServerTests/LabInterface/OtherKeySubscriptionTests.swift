import Crypto
import PushHub
import PushLab
import PushModel
import Simulators
import Testing

@testable import PushServer

/// Subscriptions created with another VAPID key than the hub's, against the simulated push service.
@Suite struct OtherKeySubscriptionTests {
    private func register(_ bench: LabBench, _ name: String, isForeign: Bool) async throws {
        let key = P256.Signing.PrivateKey().publicKey.x963Representation
        let phones = bench.lab.simulators.phones
        let phone = phones.addPhone(
            PhoneDescription(name: name, platform: .browser, app: PhoneApp("shop", applicationServerKey: isForeign ? Array(key) : nil)))
        let handle = try DeviceHandle(platform: .browser, text: try #require(phones.pushHandle(of: phone)))
        let hub = try bench.hub
        _ = try await withTaskExecutorPreference(bench.lab.thread) {
            try await hub.createRegistration(RegistrationDescription(handle: handle, tags: []))
        }
    }

    private func send(_ bench: LabBench) async throws -> (outcome: NotificationOutcome, issues: [DeliveryIssue]) {
        let hub = try bench.hub
        let request = NotificationRequest(
            audience: .everyone, content: .native([.browser: NativePayload(body: Array(#"{"title":"Hello"}"#.utf8))]))
        return try await withTaskExecutorPreference(bench.lab.thread) { (try await hub.send(request), await hub.issues()) }
    }

    @Test func `a subscription with another key is rejected, and the hub delivers to all others`() async throws {
        try await LabBench.with { bench in
            try await register(bench, "foreign", isForeign: true)
            let alone = try await send(bench)
            #expect(alone.outcome.counts[.browser] == [.invalidCredentials: 1])
            #expect(alone.issues.isEmpty)
            for number in 1...3 { try await register(bench, "own-\(number)", isForeign: false) }
            let sent = try await send(bench)
            #expect(sent.outcome.counts[.browser] == [.invalidCredentials: 1, .success: 3])
            #expect(sent.issues.isEmpty && sent.outcome.notices.isEmpty)
        }
    }

    @Test func `if most subscriptions have another key, the hub reports an issue but still tries each`() async throws {
        try await LabBench.with { bench in
            for number in 1...25 { try await register(bench, "foreign-\(number)", isForeign: true) }
            try await register(bench, "own", isForeign: false)
            let sent = try await send(bench)
            #expect(sent.outcome.counts[.browser] == [.invalidCredentials: 25, .success: 1])
            #expect(sent.outcome.notices.count == 1)
            let issue = try #require(sent.issues.first.map { HubIssue(hub: "hub", $0) })
            #expect(sent.issues.count == 1 && issue.wrongEnvironment?.contains("another VAPID key") == true, "\(issue)")
        }
    }
}
