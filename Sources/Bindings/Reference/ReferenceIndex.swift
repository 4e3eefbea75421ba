import PushModel

/// All topics of the reference, found by name or by search word.
package struct ReferenceIndex: Sendable {
    /// All topics, bindings first.
    package let all: [ReferenceTopic]

    package init(_ registry: BindingRegistry) {
        all =
            registry.bindings.map(ReferenceTopic.binding) + registry.types.map(ReferenceTopic.type)
            + ErrorCatalogue.all.map(ReferenceTopic.error)
    }

    /// The topics for a name or a search word: `push.send`, `send`, `phone:inbox`, `Outcome`, `args.unknown_key`, `tag`, `retry`. One topic
    /// is shown as a page, several as a list; none is an error.
    package func topics(for text: String) -> [ReferenceTopic] {
        let word = text.lowercased().replacing(":", with: ".")
        guard !word.isEmpty else { return [] }
        let searched = SearchWords.names(for: text)
        // From the strictest interpretation to the loosest. The first with a result is used.
        let readings: [(ReferenceTopic) -> Bool] = [
            { $0.name == text },
            { $0.isType && $0.shortName == text },
            { $0.words.contains(word) },
            { !$0.isError && $0.shortName.lowercased() == word },
            { $0.group == word },
            { searched.contains($0.name) },
            { word.count >= 3 && $0.name.lowercased().contains(text.lowercased()) },
        ]
        for reading in readings {
            let found = all.filter(reading)
            if !found.isEmpty { return found }
        }
        return []
    }

    /// Up to three known names or search words similar to an unknown one.
    package func suggestions(for text: String) -> [String] {
        var names: [String: String] = [:]
        for topic in all {
            names[topic.name] = topic.name
            if !topic.isError, names[topic.shortName] == nil { names[topic.shortName] = topic.name }
        }
        for word in SearchWords.topics.keys { names[word] = word }
        var found: [String] = []
        while found.count < 3, let near = nearest(text, in: names.keys), let name = names.removeValue(forKey: near) {
            if !found.contains(name) { found.append(name) }
        }
        return found
    }
}
