import Support
import Testing

@testable import PushModel

@Suite struct SealedPayloadTests {
    private func payload(maximumReads: Int? = nil) throws -> SealedPayload {
        SealedPayload(
            id: "1", sender: try Tag.ofUser("alice"), recipient: try Tag.ofUser("bob"),
            expiration: HubBench.startTime + .seconds(60), maximumReads: maximumReads, sealed: [1, 2, 3])
    }

    private func read(_ second: Int, _ result: SecureRead.Result) -> SecureRead {
        SecureRead(time: HubBench.startTime + .seconds(second), username: "bob", result: result)
    }

    @Test func `Rejected attempts push out other rejected attempts, but never a granted read`() throws {
        var payload = try payload()
        payload.record(read(0, .forbidden))
        payload.record(read(1, .granted))
        for second in 2..<500 { payload.record(read(second, .forbidden)) }
        payload.record(read(500, .granted))
        #expect(payload.reads.count == SealedPayload.History.maximumRecordedReads)
        #expect(payload.reads.first == read(1, .granted) && payload.reads.last == read(500, .granted))
        #expect(payload.reads[1] == read(302, .forbidden))
    }

    @Test func `If all reads were granted, the oldest record is dropped, and every read still counts`() throws {
        var payload = try payload(maximumReads: 300)
        for second in 0..<299 { payload.record(read(second, .granted)) }
        #expect(payload.reads.count == 200 && payload.reads.first == read(99, .granted))
        #expect(payload.isLive && payload.grantedReads == 299)
        payload.record(read(299, .granted))
        #expect(payload.ending == .exhausted && payload.sealed == nil)
    }

    @Test func `Only the recipient sees how the payload ended`() throws {
        var payload = try payload()
        let (alice, bob) = (payload.sender, try Tag.ofUser("BOB"))
        #expect(payload.answer(to: bob, at: HubBench.startTime + .milliseconds(59_999)) == .granted)
        #expect(payload.answer(to: bob, at: HubBench.startTime + .seconds(60)) == .expired)
        payload.end(.revoked)
        payload.end(.expired)
        #expect(payload.answer(to: bob, at: HubBench.startTime) == .revoked)
        #expect(payload.answer(to: alice, at: HubBench.startTime) == .forbidden)
    }
}
