import Testing

@testable import PushModel

@Suite struct ByteSearchTests {
    private func contains(_ text: StaticString, in whole: String) -> Bool { Array(whole.utf8).contains(text: text) }

    @Test func `A text is found at the start, in the middle and at the end`() {
        #expect(contains("rgs", in: "rgs and more"))
        #expect(contains("rgs", in: "loc-args and more"))
        #expect(contains("rgs", in: "loc-args"))
        #expect(contains("rgs", in: "rgs"))
    }

    @Test func `A text is found behind its own beginning`() {
        #expect(contains("aab", in: "aaab"))
        #expect(contains("abab", in: "abaabab"))
    }

    @Test func `A text that is missing, longer or only begun is not found`() {
        #expect(!contains("rgs", in: "arg"))
        #expect(!contains("rgs", in: ""))
        #expect(!contains("rgs\"", in: "loc-args"))
        #expect(!contains("rgs", in: "r-g-s"))
    }

    @Test func `The empty text is in all bytes`() {
        #expect(contains("", in: ""))
        #expect(contains("", in: "a"))
    }
}
