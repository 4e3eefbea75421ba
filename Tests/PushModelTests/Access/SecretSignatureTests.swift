import PushModel
import Testing

/// HMAC-SHA256 with the test cases of RFC 4231 whose keys are text.
@Suite struct SecretSignatureTests {
    @Test(
        arguments: [
            (
                String(repeating: "\u{0b}", count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            ("Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        ])
    func `a signature equals the one in RFC 4231`(key: String, message: String, signature: String) {
        #expect(Secret(key).signature(of: message.utf8) == signature)
    }

    @Test func `every byte of the key and of the message affects the signature`() {
        let signatures = ["key", "kez"].flatMap { key in ["a", "b", ""].map { Secret(key).signature(of: $0.utf8) } }
        #expect(Set(signatures).count == 6)
        #expect(signatures.allSatisfy { $0.utf8.count == 64 })
    }
}
