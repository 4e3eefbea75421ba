import PushCore
import Testing

@testable import Bindings

@Suite struct WithheldTextsTests {
    @Test func `A secret argument is masked wherever it stands, however short it is`() {
        let texts = WithheldTexts()
        texts.add(secret: ["773", 42, ["a": "ab\n"]])
        #expect(texts.masking("step 773") == "step ***")
        #expect(texts.masking("x773y 42.") == "x***y ***.")
        #expect(texts.masking(#"grab ab\n, "ab\n""#.replacing(#"\n"#, with: "\n")) == "grab ***, \"***\"")
        #expect(texts.masking(.array([773, "n 7735"])) == .array(["***", "n ***5"]))
    }

    @Test func `a flow that reads more payloads than are noted shows no text any more`() {
        let texts = WithheldTexts()
        texts.add(.array(Array(repeating: .string("ab"), count: 9_999)))
        #expect(texts.masking("a text") == "a text")
        texts.add(.array([.string("cd"), .string("a late secret")]))
        #expect(texts.masking("a late secret") == "***")
    }
}
