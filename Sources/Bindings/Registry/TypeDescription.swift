/// A type that bindings return, as scripts see it. Editor stubs and help are generated from it.
package struct TypeDescription: Sendable {
    /// `push.Outcome`.
    package var name: String
    /// One sentence.
    package var summary: String
    package var fields: [Field]
    /// The possible values, for a type that is one of several strings.
    package var values: [String]
    /// Whether a script may call it like a function.
    package var isCallable: Bool
    /// The name used in errors, for a table that raises an error instead of returning nil for an unknown field.
    package var label: String?

    package struct Field: Sendable {
        package var name: String
        /// The type in the notation of lua-language-server.
        package var type: String
        /// The meaning of the field.
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

    /// The name without its prefix: `Outcome` for `push.Outcome`.
    package var shortName: String { String(name.dropFirst("push.".count)) }
}

extension Binding.Returns {
    /// The `push` types that the return type mentions: `push.InboxItem` for `push.InboxItem[]`.
    package var names: [String] {
        type.split { !($0.isLetter || $0.isNumber || $0 == "." || $0 == "_") }.map(String.init)
            .filter { $0.hasPrefix("push.") }
    }
}
