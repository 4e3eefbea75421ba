import PushModel

/// All topics of the reference, found by name or by words.
package struct ReferenceIndex: Sendable {
    /// All topics, bindings first, the notes of the program last.
    package let all: [ReferenceTopic]

    package init(_ registry: BindingRegistry, notes: [ReferenceNote] = []) {
        all =
            registry.bindings.map(ReferenceTopic.binding) + registry.types.map(ReferenceTopic.type)
            + ErrorCatalogue.all.map(ReferenceTopic.error) + notes.map(ReferenceTopic.note)
    }

    /// The answer to a name, an area or words: `push.send`, `send`, `phone:inbox`, `Outcome`, `args.unknown_key`, `tag`, `disk full`,
    /// `429`. Topics with exactly this name have pages; what else a plain word means is listed after them.
    package func answer(to text: String) -> ReferenceAnswer {
        let word = text.lowercased().replacing(":", with: ".")
        guard !word.isEmpty else { return ReferenceAnswer() }
        let exact = pages(named: text)
        guard exact.isEmpty else {
            // A name with a dot, a colon or a capital means nothing else.
            let isPlain = word == text && !word.contains(".")
            let names = Set(exact.map(\.identity))
            return ReferenceAnswer(pages: exact, list: isPlain ? meanings(of: text, word).filter { !names.contains($0.identity) } : [])
        }
        let found = meanings(of: text, word)
        return found.count == 1 ? ReferenceAnswer(pages: found) : ReferenceAnswer(list: found)
    }

    /// The topics that the answer to a name or to words shows: its pages, or its list if it has none.
    package func topics(for text: String) -> [ReferenceTopic] {
        let answer = answer(to: text)
        return answer.pages.isEmpty ? answer.list : answer.pages
    }

    /// The topics with exactly this name, in the case of the text if there are any.
    func pages(named text: String) -> [ReferenceTopic] {
        let word = text.lowercased().replacing(":", with: ".")
        let readings: [(ReferenceTopic) -> Bool] = [
            { $0.name == text },
            { $0.isType && $0.shortName == text },
            { $0.words.contains(word) },
        ]
        return readings.lazy.map { all.filter($0) }.first { !$0.isEmpty } ?? []
    }

    /// The topics that a text means if it is not their name: those with this short name, those of an area, or those with these words.
    private func meanings(of text: String, _ word: String) -> [ReferenceTopic] {
        let own = all.filter { !$0.isNote }
        let short = own.filter { !$0.isError && $0.shortName.lowercased() == word }
        // A generator has the name of what it generates, which the word alone means.
        let direct = short.filter { !$0.name.hasPrefix("push.gen.") }
        if !direct.isEmpty { return direct }
        // As the list of all areas writes it: `tag.*`.
        if word.hasSuffix(".*") { return own.filter { $0.group == String(word.dropLast(2)) } }
        let prefixed = word.hasSuffix(".") ? all.filter { $0.name.hasPrefix(word) } : []
        if !prefixed.isEmpty { return prefixed }
        let area = own.filter { $0.group == word }
        if area.count > 1 { return area + ReferenceSearch(all).notes(about: word) }
        if !short.isEmpty { return short }
        // A name as a push service writes it. A plain word or a search word may mean more than the topic it names.
        let isSpecific = text.contains { !$0.isLowercase } && SearchWords.names(for: text).isEmpty
        let key = ReferenceSearch.key(of: text)
        let named = all.filter { $0.keys.contains(key) }
        if isSpecific, named.count == 1 { return named }
        return ReferenceSearch(all).topics(for: text)
    }

    /// Up to three known names or search words similar to an unknown one.
    package func suggestions(for text: String) -> [String] {
        var names: [String: String] = [:]
        for topic in all {
            names[topic.name] = topic.name
            if !topic.isError, names[topic.shortName] == nil { names[topic.shortName] = topic.name }
        }
        for word in SearchWords.words { names[word] = word }
        var found: [String] = []
        while found.count < 3, let near = nearest(text, in: names.keys), let name = names.removeValue(forKey: near) {
            if !found.contains(name) { found.append(name) }
        }
        return found
    }
}
