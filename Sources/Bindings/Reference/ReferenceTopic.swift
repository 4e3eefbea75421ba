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

    var isType: Bool { if case .type = self { true } else { false } }
    var isError: Bool { if case .error = self { true } else { false } }

    var shortName: String {
        switch self {
        case .binding(let binding): binding.shortName
        case .type(let type): type.shortName
        case .error(let error): error.code
        }
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
        case .type: nil
        case .error(let error): ErrorCatalogue.areas.first { $0.entries.contains { $0.code == error.code } }?.name
        }
    }
}
