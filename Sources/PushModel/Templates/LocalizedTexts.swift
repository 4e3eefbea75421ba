/// One text in several languages, as one template property per language that a device may have chosen.
///
/// A device registers a template with the property of its language, such as `$(News_pt_BR)`. A hub renders a missing property as empty
/// text, so the sender must fill every gap: `News_pt_BR` is the text for `pt-BR`, otherwise the one for `pt`, otherwise the fallback's.
/// `News` itself is the fallback's text.
package struct LocalizedTexts: Sendable, Equatable {
    package let properties: [String: String]

    /// - Parameters:
    ///   - texts: by language tag (BCP 47).
    ///   - fallback: the language, one of `texts`, for readers of none of the others.
    ///   - languages: further languages that a device may have chosen.
    ///
    /// Throws `localization.name`, `localization.language`, `localization.duplicate` and `localization.fallback`.
    package init(
        name: String, texts: [String: String], fallback: String, languages: [String] = []
    ) throws(PushError) {
        var properties: [String: String] = [:]
        var spellings: [String: String] = [:]
        for (language, text) in texts.sorted(by: { $0.key < $1.key }) {
            let property = try Self.property(name, language: language)
            if let other = spellings.updateValue(language, forKey: language.lowercased()) {
                throw PushError(
                    "localization.duplicate", "\"\(other)\" and \"\(language)\" both give the property \(property)",
                    hint: "names of properties are compared without regard to case: keep one text", status: 400)
            }
            properties[property] = text
        }
        guard let spelling = spellings[fallback.lowercased()], let text = texts[spelling] else {
            throw PushError(
                "localization.fallback", "there is no text for the fallback \"\(fallback)\"",
                hint: "give one, or name a language that has a text"
                    + (texts.isEmpty ? "" : ": \(texts.keys.sorted().joined(separator: ", "))"), status: 400)
        }
        for language in languages {
            let property = try Self.property(name, language: language)
            guard spellings.updateValue(language, forKey: language.lowercased()) == nil else { continue }
            properties[property] = texts[LanguageLookup.best(for: language, among: texts.keys, fallback: spelling)]
        }
        properties[name] = text
        self.properties = properties
    }

    /// The name of the property for `language`: `News_zh_Hant` for `zh-Hant`. Throws `localization.name` and `localization.language`.
    package static func property(_ name: String, language: String) throws(PushError) -> String {
        guard !name.isEmpty, name.utf8.allSatisfy(\.isPropertyCharacter) else {
            throw PushError(
                "localization.name", "\"\(name)\" is not the name of a template property",
                hint: "names are letters, digits and _", status: 400)
        }
        guard LanguageLookup.isTag(language) else {
            throw PushError(
                "localization.language", "\"\(language)\" is not a language tag",
                hint: language.contains("_")
                    ? "parts are joined by hyphens: \(language.replacing("_", with: "-"))" : "write en, pt-BR or zh-Hant",
                status: 400)
        }
        let property = "\(name)_\(language.replacing("-", with: "_"))"
        guard property.utf8.count <= 120 else {
            throw PushError(
                "localization.name", "the property \(property) has \(property.utf8.count) characters; the limit is 120",
                hint: "shorten the name", status: 400)
        }
        return property
    }
}
