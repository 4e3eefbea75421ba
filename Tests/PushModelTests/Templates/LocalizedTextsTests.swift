import PushHub
import PushModel
import Support
import Testing

@Suite struct LocalizedTextsTests {
    private static let texts = ["en": "News", "pt": "Notícias", "zh-Hant": "新聞"]

    @Test func `Every device language gets a text: its own, its parent language's, or the fallback's`() throws {
        let texts = try LocalizedTexts(
            name: "News", texts: Self.texts, fallback: "en", languages: ["fr", "pt-BR", "zh-Hant-TW", "zh", "pt"])
        #expect(
            texts.properties == [
                "News": "News", "News_en": "News", "News_pt": "Notícias", "News_zh_Hant": "新聞", "News_fr": "News",
                "News_pt_BR": "Notícias", "News_zh_Hant_TW": "新聞", "News_zh": "News",
            ])
    }

    @Test func `A device in any of these languages shows its text, on a hub that leaves gaps empty`() async throws {
        let bench = try HubBench()
        let languages = ["pt-BR", "fr", "zh-Hant-HK", "en"]
        for (number, language) in languages.enumerated() {
            let property = try LocalizedTexts.property("News", language: language)
            try await bench.register(
                .phone(number), template: AlertPayloads.template(property: property, platform: .apns))
        }
        let texts = try LocalizedTexts(name: "News", texts: Self.texts, fallback: "en", languages: languages)
        _ = try await bench.hub.send(.properties(texts.properties))
        #expect(bench.connector.bodies == ["Notícias", "News", "新聞", "News"].map { #"{"aps":{"alert":"\#($0)"}}"# })
    }

    @Test func `The language names of the tutorial are accepted as tags`() throws {
        let texts = try LocalizedTexts(
            name: "News", texts: ["English": "World", "French": "Monde", "Mandarin": "世界"], fallback: "English")
        #expect(texts.properties["News_Mandarin"] == "世界" && texts.properties["News"] == "World")
    }

    @Test func `Languages are compared without regard to case`() throws {
        let texts = try LocalizedTexts(
            name: "News", texts: ["pt-BR": "a", "EN": "b"], fallback: "en", languages: ["PT-br", "pt-PT", "En"])
        #expect(texts.properties == ["News_pt_BR": "a", "News_EN": "b", "News_pt_PT": "b", "News": "b"])
    }

    @Test func `An empty text counts as a text`() throws {
        let texts = try LocalizedTexts(name: "n", texts: ["en": "x", "pt": ""], fallback: "en", languages: ["pt-BR"])
        #expect(texts.properties["n_pt_BR"] == "")
    }

    @Test func `Text that cannot be localized is rejected, with a hint`() async throws {
        let cases: [(String, [String: String], String, [String], String, String, String)] = [
            (
                "News", ["en": "x", "EN": "y"], "en", [], "localization.duplicate",
                "\"EN\" and \"en\" both give the property News_en",
                "names of properties are compared without regard to case: keep one text"
            ),
            (
                "News", ["pt": "x", "en": "y"], "fr", [], "localization.fallback",
                "there is no text for the fallback \"fr\"", "give one, or name a language that has a text: en, pt"
            ),
            (
                "News", [:], "en", [], "localization.fallback", "there is no text for the fallback \"en\"",
                "give one, or name a language that has a text"
            ),
            (
                "News", ["pt": "x"], "pt-BR", [], "localization.fallback",
                "there is no text for the fallback \"pt-BR\"", "give one, or name a language that has a text: pt"
            ),
            (
                "News", ["pt_BR": "x"], "pt_BR", [], "localization.language", "\"pt_BR\" is not a language tag",
                "parts are joined by hyphens: pt-BR"
            ),
            (
                "News", ["en": "x"], "en", ["portuguese!"], "localization.language",
                "\"portuguese!\" is not a language tag", "write en, pt-BR or zh-Hant"
            ),
            (
                "Late news", ["en": "x"], "en", [], "localization.name",
                "\"Late news\" is not the name of a template property", "names are letters, digits and _"
            ),
            (
                "", ["en": "x"], "en", [], "localization.name", "\"\" is not the name of a template property",
                "names are letters, digits and _"
            ),
            (
                String(repeating: "n", count: 118), ["en": "x"], "en", [], "localization.name",
                "the property \(String(repeating: "n", count: 118))_en has 121 characters; the limit is 120",
                "shorten the name"
            ),
        ]
        for (name, texts, fallback, languages, code, message, hint) in cases {
            let error = await refusal {
                try LocalizedTexts(name: name, texts: texts, fallback: fallback, languages: languages)
            }
            #expect(error?.code == code && error?.status == 400)
            #expect(error?.message == message)
            #expect(error?.hint == hint)
        }
    }
}
