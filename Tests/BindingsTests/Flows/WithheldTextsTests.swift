import PushCore
import Testing

@testable import Bindings

@Suite struct WithheldTextsTests {
    @Test func `a flow that reads more payloads than are noted shows no text any more`() {
        let texts = WithheldTexts()
        texts.add(.array(Array(repeating: .string("ab"), count: 9_999)))
        #expect(texts.masking("a text") == "a text")
        texts.add(.array([.string("cd"), .string("a late secret")]))
        #expect(texts.masking("a late secret") == "***")
    }
}
