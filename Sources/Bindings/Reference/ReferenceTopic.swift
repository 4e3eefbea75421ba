import PushModel

/// A topic with a page of its own: a binding, a type, an error code, or a note of the program.
package enum ReferenceTopic: Sendable {
    case binding(Binding)
    case type(TypeDescription)
    case error(ErrorDescription)
    case note(ReferenceNote)

    package var name: String {
        switch self {
        case .binding(let binding): binding.name
        case .type(let type): type.name
        case .error(let error): error.code
        case .note(let note): note.name
        }
    }

    package var summary: String {
        switch self {
        case .binding(let binding): binding.summary
        case .type(let type): type.summary
        case .error(let error): error.summary
        case .note(let note): note.summary
        }
    }

    /// The word for the kind of topic, as in `pushhost explain --json`.
    package var kind: String {
        switch self {
        case .binding: "binding"
        case .type: "type"
        case .error: "error"
        case .note(let note): note.kind.rawValue
        }
    }

    /// What tells topics with the same name apart.
    var identity: String { "\(kind) \(name) \(summary)" }

    var isType: Bool { if case .type = self { true } else { false } }
    var isError: Bool { if case .error = self { true } else { false } }
    var isNote: Bool { if case .note = self { true } else { false } }

    /// The text of the page besides name and summary.
    var body: String {
        switch self {
        case .binding(let binding):
            (binding.parameters.flatMap { [$0.name, $0.summary] } + [binding.returns?.summary ?? ""]).joined(separator: " ")
        case .type(let type): (type.fields.flatMap { [$0.name, $0.summary] } + type.values).joined(separator: " ")
        case .error(let error): "\(error.occasion) \(error.fix)"
        case .note(let note): note.parts.map(\.text).joined(separator: " ")
        }
    }

    var shortName: String {
        switch self {
        case .binding(let binding): binding.shortName
        case .type(let type): type.shortName
        case .error(let error): error.code
        case .note(let note): note.shortName
        }
    }

    /// Its names, reduced to letters and digits.
    var keys: [String] { [ReferenceSearch.key(of: name), ReferenceSearch.key(of: shortName)] }

    /// The HTTP statuses that the page of an error gives.
    var statuses: String {
        guard case .error(let error) = self else { return "" }
        return error.occasion.matches(of: /[Ss]tatus (\d{3})/).map { String($0.1) }.joined(separator: " ")
    }

    /// The ways to write the full name, in lower case with dots. `phone` is accepted for `device`.
    var words: [String] {
        let name = name.lowercased().replacing(":", with: ".")
        guard case .binding(let binding) = self else { return [name] }
        switch binding.receiver {
        case "device"?: return [name, "phone.\(binding.shortName)", "push.\(name)"]
        case _?: return [name, "push.\(name)"]
        case nil: return binding.space == nil ? [name] : [name, String(name.dropFirst("push.".count))]
        }
    }

    /// The common word of a group of topics: `tag` for `push.tag.user`, `hub` for `hub.gone`.
    var group: String? {
        switch self {
        case .binding(let binding): binding.receiver ?? binding.space.map { String($0.dropFirst("push.".count)) }
        case .type, .note: nil
        case .error(let error): ErrorCatalogue.areas.first { $0.entries.contains { $0.code == error.code } }?.name
        }
    }
}
