import PushModel
import Storage
import Testing

@testable import WebAPI

@Suite struct WebhookReceiptsTests {
    private let now = Timestamp(milliseconds: 1_000_000)
    private let end = Timestamp(milliseconds: 2_000_000)

    @Test func `An accepted message is remembered as long as needed, even if that cannot be stored`() async throws {
        let roomy = MemoryKeyValueSpaces()
        _ = try await WebhookReceipts(roomy).begin("m", of: "greet", until: end, now: now)
        let begun = try await roomy.space("webhook:greet").usage().bytes
        // Space for the first entry and no more.
        let receipts = WebhookReceipts(MemoryKeyValueSpaces(quota: KeyValueQuota(entries: 1, bytes: begun)))
        let receipt = try await receipts.begin("m", of: "greet", until: end, now: now)
        let full = await #expect(throws: PushError.self) { try await receipts.accept(receipt, now: now) }
        #expect(full?.code == "kv.full")
        let again = await #expect(throws: PushError.self) { try await receipts.begin("m", of: "greet", until: end, now: now) }
        #expect(again?.code == "webhook.replayed")
        let later = end + .seconds(1)
        _ = try await receipts.begin("m", of: "greet", until: later + .seconds(1), now: later)
    }
}
