import Lua
import PushModel

/// Choosing among localized texts.
enum LocaleBindings {
    static let localeChoose = Binding(
        "push.locale.choose", "Chooses the best available language for a locale (RFC 4647, lookup): pt-BR matches pt.",
        takes: .positional([
            .required("locale", .string, "the reader's locale: phone.locale").ruled { try requireLanguage($0.text ?? "") },
            .required("languages", .list(.string), "the available languages"),
            .required("fallback", .string, "the language if none matches"),
        ]),
        returns: "string", when: .in(.everywhere), errors: ["localization.language"],
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

    /// A name that is valid in one language is valid in all, so any language serves for the check.
    private static let nameRule: Parameter.Rule = { _ = try LocalizedTexts.property($0.text ?? "", language: "en") }

    static let localeProperty = Binding(
        "push.locale.property", "Returns the name of the property for a text in a language: News_pt_BR for pt-BR.",
        takes: .positional([
            .required("name", .string, "the text's name").ruled(by: nameRule),
            .required("language", .string, "a language tag").ruled { _ = try LocalizedTexts.property("x", language: $0.text ?? "") },
        ]),
        returns: "string", when: .in(.everywhere), errors: ["localization.language", "localization.name"],
        example: "local body = '{\"aps\":{\"alert\":\"$(' .. push.locale.property(\"News\", \"pt-BR\") .. ')\"}}'",
        body: .sync { arguments, _ in
            try LocalizedTexts.property(arguments.text("name"), language: arguments.text("language"))
        })

    static let localeProperties = Binding(
        "push.locale.properties",
        "Converts a text in several languages to properties for push.send. Languages without a text use the nearest one, or the fallback.",
        takes: .table([
            .required("name", .string, "the text's name, the prefix of the property names").ruled(by: nameRule),
            .required("texts", .map(.string), "by language: { en = \"…\", [\"pt-BR\"] = \"…\" }"),
            .required("fallback", .string, "the language if none of the texts matches"),
            .optional("languages", .list(.string), "all languages that devices may have chosen"),
        ]),
        returns: "table<string, string>", when: .in(.everywhere),
        errors: ["localization.duplicate", "localization.fallback", "localization.language", "localization.name"],
        example:
            "local properties = push.locale.properties { name = \"News\", texts = { en = \"Goal\", pt = \"Golo\" }, fallback = \"en\", languages = { \"fr\" } }",
        body: .sync { arguments, _ in
            let texts = try LocalizedTexts(
                name: arguments.text("name"), texts: arguments.table("texts")?.texts ?? [:], fallback: arguments.text("fallback"),
                languages: arguments.strings("languages") ?? [])
            return texts.properties
        })
}
