import NIOCore
import Testing

@testable import WebAPI

@Suite struct SmallFrameLimitTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// The number of small frames at one time until one is refused.
    private func allowed(_ limit: inout SmallFrameLimit, at time: NIODeadline) -> Int {
        var count = 0
        while limit.allows(at: time), count < 1_000_000 { count += 1 }
        return count
    }

    @Test func `small frames are limited for each window`() {
        var limit = SmallFrameLimit()
        #expect(allowed(&limit, at: start) == SmallFrameLimit.frames)
        let isAllowed = limit.allows(at: start + SmallFrameLimit.window - .nanoseconds(1))
        #expect(!isAllowed)
        #expect(allowed(&limit, at: start + SmallFrameLimit.window) == SmallFrameLimit.frames)
    }

    @Test func `requests with a few small frames each are not limited`() {
        var limit = SmallFrameLimit()
        for _ in 0..<100_000 {
            limit.noteRequest()
            var isAllowed = true
            for _ in 0..<SmallFrameLimit.perRequest { isAllowed = limit.allows(at: start) && isAllowed }
            #expect(isAllowed)
        }
        // Requests save nothing up for later.
        for _ in 0..<1000 { limit.noteRequest() }
        #expect(allowed(&limit, at: start) == SmallFrameLimit.frames)
    }
}
