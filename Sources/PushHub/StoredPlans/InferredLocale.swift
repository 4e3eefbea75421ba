import PushModel

/// The language of a registration's user, where it can be inferred. The hub has no field for it: apps provide it as a push variable, as a
/// tag, or through the property that their template uses.
enum InferredLocale {
    private static let names = ["locale", "language", "lang", "culture"]

    /// The language in the push variable `locale`, `language`, `lang` or `culture` (any case), if there is one.
    static func of(variables: [String: String]) -> String? {
        for name in names {
            guard let text = variables.first(where: { $0.key.lowercased() == name })?.value, let locale = language(text) else { continue }
            return locale
        }
        return nil
    }

    /// The language in a tag such as `locale:pt-BR`, if there is one.
    static func of(_ tag: Tag) -> String? {
        guard let colon = tag.text.firstIndex(of: ":"), names.contains(tag.text[..<colon].lowercased()) else { return nil }
        return language(String(tag.text[tag.text.index(after: colon)...]))
    }

    private static func language(_ text: String) -> String? {
        let text = text.replacing("_", with: "-")
        return LanguageLookup.isTag(text) ? text : nil
    }

    /// Languages of message properties that exist in several languages, by property: `pt-BR` for `news_pt_br` if there is a `News_en`, too.
    /// Names are in lower case, as in templates.
    static func languages(ofProperties names: some Sequence<String>) -> [String: String] {
        var found: [String: [(property: String, language: String)]] = [:]
        for name in names {
            let parts = name.split(separator: "_", omittingEmptySubsequences: false)
            guard parts.count > 1 else { continue }
            for end in 1..<parts.count {
                let language = parts[end...].joined(separator: "-")
                // A language code has two or three letters; a longer part is an ordinary word.
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
