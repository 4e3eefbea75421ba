import Lua
import PushCore

extension Binding {
    static let localeChoose = Binding(
        "push.locale.choose", "The language for a reader among those that there are (RFC 4647, lookup): pt-BR finds pt.",
        parameters: [
            .required("locale", .string, "the reader's: phone.locale").ruled { try requireLanguage($0.text ?? "") },
            .required("languages", .list(.string), "the languages that there are"),
            .required("fallback", .string, "the language of everybody else"),
        ],
        returns: "string", phases: .everywhere, errors: ["localization.language"],
        example: "local language = push.locale.choose(phone.locale, { \"en\", \"pt\", \"zh-Hant\" }, \"en\")",
        body: .sync { arguments, _ in
            let locale = try arguments.text("locale")
            try requireLanguage(locale)
            return LanguageLookup.best(for: locale, among: arguments.strings("languages") ?? [], fallback: try arguments.text("fallback"))
        })

    private static func requireLanguage(_ locale: String) throws(PushError) {
        guard LanguageLookup.isTag(locale) else {
            throw PushError(
                "localization.language", "\"\(locale)\" is not a language tag",
                hint: locale.contains("_")
                    ? "parts are joined by hyphens: \(locale.replacing("_", with: "-"))" : "write en, pt-BR or zh-Hant", status: 400)
        }
    }

    /// Holds for any language, so that the name alone is looked at.
    private static let nameRule: Parameter.Rule = { _ = try LocalizedTexts.property($0.text ?? "", language: "en") }

    static let localeProperty = Binding(
        "push.locale.property", "The name of the property that has a text in a language: News_pt_BR for pt-BR.",
        parameters: [
            .required("name", .string, "the text's name").ruled(by: nameRule),
            .required("language", .string, "a language tag").ruled { _ = try LocalizedTexts.property("x", language: $0.text ?? "") },
        ],
        returns: "string", phases: .everywhere, errors: ["localization.language", "localization.name"],
        example: "local body = '{\"aps\":{\"alert\":\"$(' .. push.locale.property(\"News\", \"pt-BR\") .. ')\"}}'",
        body: .sync { arguments, _ in
            try LocalizedTexts.property(arguments.text("name"), language: arguments.text("language"))
        })

    static let localeProperties = Binding(
        "push.locale.properties",
        "One text in several languages as properties for push.send; languages without a text get the nearest one, or the fallback's.",
        style: .table,
        parameters: [
            .required("name", .string, "the text's name, which begins the properties' names").ruled(by: nameRule),
            .required("texts", .map(.string), "by language: { en = \"…\", [\"pt-BR\"] = \"…\" }"),
            .required("fallback", .string, "the language for whoever reads none of them"),
            .optional("languages", .list(.string), "all languages that devices may have chosen"),
        ],
        returns: "table<string, string>",
        phases: .everywhere, errors: ["localization.duplicate", "localization.fallback", "localization.language", "localization.name"],
        example:
            "local properties = push.locale.properties { name = \"News\", texts = { en = \"Goal\", pt = \"Golo\" }, fallback = \"en\", languages = { \"fr\" } }",
        body: .sync { arguments, _ in
            let texts = try LocalizedTexts(
                name: arguments.text("name"), texts: arguments.table("texts")?.texts ?? [:], fallback: arguments.text("fallback"),
                languages: arguments.strings("languages") ?? [])
            return texts.properties
        })
}
