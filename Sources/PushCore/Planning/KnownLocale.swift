/// What a registration says of its reader's language. The hub itself knows nothing of it: apps tell it as a push variable, as a tag, or by
/// the property that their template shows.
enum KnownLocale {
    private static let names = ["locale", "language", "lang", "culture"]

    /// The push variable `locale`, `language`, `lang` or `culture`, in any case; nil where there is none with a language in it.
    static func of(variables: [String: String]) -> String? {
        for name in names {
            guard let text = variables.first(where: { $0.key.lowercased() == name })?.value, let locale = language(text) else { continue }
            return locale
        }
        return nil
    }

    /// A tag such as `locale:pt-BR`.
    static func of(_ tag: Tag) -> String? {
        guard let colon = tag.text.firstIndex(of: ":"), names.contains(tag.text[..<colon].lowercased()) else { return nil }
        return language(String(tag.text[tag.text.index(after: colon)...]))
    }

    private static func language(_ text: String) -> String? {
        let text = text.replacing("_", with: "-")
        return LanguageLookup.isTag(text) ? text : nil
    }

    /// Languages by the properties of a message that has one text in several: `pt-BR` for `news_pt_br` where there is a `News_en`, too. Names
    /// in lower case, as templates have them.
    static func languages(ofProperties names: some Sequence<String>) -> [String: String] {
        var found: [String: [(property: String, language: String)]] = [:]
        for name in names {
            let parts = name.split(separator: "_", omittingEmptySubsequences: false)
            guard parts.count > 1 else { continue }
            for end in 1..<parts.count {
                let language = parts[end...].joined(separator: "-")
                // A language has two letters or three; longer words are words.
                guard (2...3).contains(parts[end].utf8.count), !parts[..<end].joined().isEmpty, LanguageLookup.isTag(language) else {
                    continue
                }
                found[parts[..<end].joined(separator: "_").lowercased(), default: []].append((name.lowercased(), language))
                break
            }
        }
        return found.values.filter { $0.count > 1 }.joined().reduce(into: [:]) { $0[$1.property] = $1.language }
    }
}
