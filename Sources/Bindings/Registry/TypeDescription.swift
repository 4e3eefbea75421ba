/// A shape of what bindings return, as a script sees it; the source of editor stubs and of help.
package struct TypeDescription: Sendable {
    /// `push.Outcome`.
    package var name: String
    /// One sentence.
    package var summary: String
    package var fields: [Field]
    /// The words that it stands for, of a type that is one of several strings.
    package var values: [String]
    /// Whether a script may call it like a function.
    package var isCallable: Bool
    /// How errors call it, of a table that answers names that it does not have with an error instead of nil.
    package var label: String?

    package struct Field: Sendable {
        package var name: String
        /// In the notation of lua-language-server.
        package var type: String
        /// What it means.
        package var summary: String
        /// Whether it may be absent.
        package var isOptional: Bool

        init(_ name: String, _ type: String, _ summary: String, isOptional: Bool = false) {
            self.name = name
            self.type = type
            self.summary = summary
            self.isOptional = isOptional
        }
    }

    init(
        _ name: String, _ summary: String, fields: [Field] = [], values: [String] = [], isCallable: Bool = false, label: String? = nil
    ) {
        self.name = name
        self.summary = summary
        self.fields = fields
        self.values = values
        self.isCallable = isCallable
        self.label = label
    }

    /// `Outcome` for `push.Outcome`.
    package var shortName: String { String(name.dropFirst("push.".count)) }

    /// The bindings that are called on it with a colon.
    package var methods: [Binding] {
        BindingRegistry.all.filter { $0.receiver.map { ParameterType.object($0).annotation } == name }
    }

    /// The bindings that return it, or a list of it.
    package var sources: [Binding] {
        BindingRegistry.all.filter { $0.returns?.names.contains(name) == true }
    }
}

extension Binding.Returns {
    /// The types of ours that it mentions: `push.InboxItem` for `push.InboxItem[]`.
    package var names: [String] {
        type.split { !($0.isLetter || $0.isNumber || $0 == "." || $0 == "_") }.map(String.init)
            .filter { $0.hasPrefix("push.") }
    }
}
