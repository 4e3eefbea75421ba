import PushModel
import Testing

@Suite struct LanguageLookupTests {
    @Test(
        arguments: [
            ("zh-Hant-TW", "zh-Hant"), ("zh-Hant", "zh-Hant"), ("zh-TW", "fallback"), ("pt-BR", "pt"),
            ("PT-br", "pt"), ("ptx", "fallback"), ("p", "fallback"), ("", "fallback"), ("-", "fallback"),
            ("*", "fallback"), ("de-CH-1996", "de-CH"), ("de-AT", "fallback"),
        ])
    func `The nearest language is found by removing subtags from the end`(language: String, best: String) {
        let tags = ["en", "pt", "zh-Hant", "de-CH"]
        #expect(LanguageLookup.best(for: language, among: tags, fallback: "fallback") == best)
    }

    /// The example of RFC 4647, section 3.4.
    @Test func `A single-letter subtag is removed together with the subtag after it`() {
        let steps = [
            "zh-Hant-CN-x-private1-private2", "zh-Hant-CN-x-private1", "zh-Hant-CN", "zh-Hant", "zh",
        ]
        for start in steps.indices {
            let among = Array(steps[start...]) + ["zh-Hant-CN-x"]
            #expect(LanguageLookup.best(for: steps[0], among: among, fallback: "-") == steps[start])
        }
        #expect(LanguageLookup.best(for: steps[0], among: ["zh-Hant-CN-x"], fallback: "-") == "-")
        #expect(LanguageLookup.best(for: "x-klingon", among: ["x"], fallback: "-") == "-")
    }

    @Test func `The result has the sender's spelling`() {
        #expect(LanguageLookup.best(for: "ZH-HANT", among: ["Zh-hANT"], fallback: "en") == "Zh-hANT")
    }

    @Test(
        arguments: ["en", "pt-BR", "zh-Hant-TW", "de-CH-1996", "es-419", "x-klingon", "i-ami", "en-x-a", "English", "fil"])
    func `Language tags are recognized by their form`(tag: String) {
        #expect(LanguageLookup.isTag(tag))
    }

    @Test(
        arguments: [
            "", "e", "x", "i", "a-b", "pt_BR", "pt--BR", "-en", "en-", "portuguese", "en-portuguese1", "12-en", "*", "en-*",
            "en-x", "é", "en US", "zh-Hant-u",
        ])
    func `Text of another form is not a language tag`(text: String) {
        #expect(!LanguageLookup.isTag(text))
    }
}
