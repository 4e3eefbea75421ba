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

    /// The topics for a name, an area or words: `push.send`, `send`, `phone:inbox`, `Outcome`, `args.unknown_key`, `tag`, `disk full`,
    /// `429`. One topic is shown as a page, several as a list; none is an error.
    package func topics(for text: String) -> [ReferenceTopic] {
        let word = text.lowercased().replacing(":", with: ".")
        guard !word.isEmpty else { return [] }
        // From the strictest interpretation to the loosest. The first with a result is used.
        let readings: [(ReferenceTopic) -> Bool] = [
            { $0.name == text },
            { $0.isType && $0.shortName == text },
            { $0.words.contains(word) },
            { !$0.isError && $0.shortName.lowercased() == word },
            { word.hasSuffix(".") && $0.name.hasPrefix(word) },
        ]
        let own = all.filter { !$0.isNote }
        for reading in readings {
            let found = own.filter(reading)
            if !found.isEmpty { return found }
        }
        let area = own.filter { $0.group == word }
        if area.count > 1 { return area }
        // A name as a push service or a settings file writes it. A plain word or a search word may mean more than the topic it names.
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
