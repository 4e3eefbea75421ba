import PushModel
import Testing

@testable import Bindings

@Suite struct WithheldTextsTests {
    @Test func `A secret argument is masked wherever it appears, however short it is`() {
        let texts = SecretMasker()
        texts.add(secret: ["773", 42, ["a": "ab\n"]])
        #expect(texts.masking("step 773") == "step ***")
        #expect(texts.masking("x773y 42.") == "x***y ***.")
        #expect(texts.masking(#"grab ab\n, "ab\n""#.replacing(#"\n"#, with: "\n")) == "grab ***, \"***\"")
        #expect(texts.masking(.array([773, "n 7735"])) == .array(["***", "n ***5"]))
    }

    @Test func `after too many payloads a flow shows no texts at all`() {
        let texts = SecretMasker()
        texts.add(.array(Array(repeating: .string("ab"), count: 9_999)))
        #expect(texts.masking("a text") == "a text")
        texts.add(.array([.string("cd"), .string("a late secret")]))
        #expect(texts.masking("a late secret") == "***")
    }
}
