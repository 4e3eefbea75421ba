import PushModel

/// A topic with a page of its own: a binding, a type, or an error code.
package enum ReferenceTopic: Sendable {
    case binding(Binding)
    case type(TypeDescription)
    case error(ErrorDescription)

    package var name: String {
        switch self {
        case .binding(let binding): binding.name
        case .type(let type): type.name
        case .error(let error): error.code
        }
    }

    package var summary: String {
        switch self {
        case .binding(let binding): binding.summary
        case .type(let type): type.summary
        case .error(let error): error.summary
        }
    }

    /// All topics, bindings first.
    package static let all: [ReferenceTopic] =
        BindingRegistry.all.map(ReferenceTopic.binding) + BindingRegistry.types.map(ReferenceTopic.type)
        + ErrorCatalogue.all.map(ReferenceTopic.error)

    /// The topics for a name or a search word: `push.send`, `send`, `phone:inbox`, `Outcome`, `args.unknown_key`, `tag`, `retry`. One topic
    /// is shown as a page, several as a list; none is an error.
    package static func topics(for text: String) -> [ReferenceTopic] {
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
    package static func suggestions(for text: String) -> [String] {
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

    private var isType: Bool { if case .type = self { true } else { false } }
    private var isError: Bool { if case .error = self { true } else { false } }

    private var shortName: String {
        switch self {
        case .binding(let binding): binding.shortName
        case .type(let type): type.shortName
        case .error(let error): error.code
        }
    }

    /// The ways to write the full name, in lower case with dots. `phone` is accepted for `device`.
    private var words: [String] {
        let name = name.lowercased().replacing(":", with: ".")
        guard case .binding(let binding) = self else { return [name] }
        switch binding.receiver {
        case "device"?: return [name, "phone.\(binding.shortName)", "push.\(name)"]
        case _?: return [name, "push.\(name)"]
        case nil: return binding.space == nil ? [name] : [name, String(name.dropFirst("push.".count))]
        }
    }

    /// The common word of a group of topics: `tag` for `push.tag.user`, `hub` for `hub.gone`.
    private var group: String? {
        switch self {
        case .binding(let binding): binding.receiver ?? binding.space.map { String($0.dropFirst("push.".count)) }
        case .type: nil
        case .error(let error): ErrorCatalogue.areas.first { $0.entries.contains { $0.code == error.code } }?.name
        }
    }
}
