import Bindings
import PushModel

/// The output of `pushhost explain --json`, `pushhost.explain/1`.
struct ExplainJSON {
    let registry: BindingRegistry

    static let schema = "pushhost.explain/1"

    /// The complete topics of an answer, those with exactly the name first; `suggestions` if there is none.
    func document(_ name: String, _ answer: ReferenceAnswer, suggestions: [String] = []) -> JSON {
        [
            "schema": .string(Self.schema), "name": .string(name),
            "topics": .array((answer.pages + answer.list).map { JSON($0, registry) }), "suggestions": .array(suggestions.map(JSON.string)),
        ]
    }

    /// All topics, by name and summary.
    func index() -> JSON {
        [
            "schema": .string(Self.schema),
            "topics": .array(
                ReferenceIndex(registry).all.map { ["name": .string($0.name), "kind": .string($0.kind), "summary": .string($0.summary)] }),
        ]
    }
}

extension JSON {
    fileprivate init(_ topic: ReferenceTopic, _ registry: BindingRegistry) {
        var object: JSONObject = [
            "name": .string(topic.name), "kind": .string(topic.kind), "summary": .string(topic.summary),
        ]
        switch topic {
        case .binding(let binding):
            object["signature"] = .string(binding.signature)
            object["parameters"] = .array(
                binding.parameters.map { parameter in
                    [
                        "name": .string(parameter.name), "type": .string(parameter.type.annotation),
                        "required": .bool(parameter.isRequired), "summary": .string(parameter.summary),
                    ]
                })
            object["returns"] = binding.returns.map { .string($0.type) } ?? .null
            object["errors"] = .array(binding.errors.map(JSON.string))
            object["example"] = .string(binding.example)
        case .type(let type):
            object["fields"] = .array(
                type.fields.map { field in
                    [
                        "name": .string(field.name), "type": .string(field.type), "required": .bool(!field.isOptional),
                        "summary": .string(field.summary),
                    ]
                })
            object["values"] = .array(type.values.map(JSON.string))
            object["methods"] = .array(registry.methods(of: type).map { .string($0.name) })
        case .error(let error):
            object["when"] = .string(error.occasion)
            object["cure"] = .string(error.fix)
            object["kinds"] = .array(error.kinds.map { .string($0.rawValue) })
            object["exit_codes"] = .array(error.exitCodes.map { .integer(Int64($0)) })
            object["raised_by"] = .array(registry.bindings(raising: error.code).map { .string($0.name) })
            object["example"] =
                error.example.map { example in
                    [
                        "language": .string(example.language.rawValue), "mistake": .string(example.mistake),
                        "cure": .string(example.fix),
                    ]
                } ?? .null
        case .note(let note):
            object["parts"] = .array(note.parts.map { ["title": .string($0.title), "text": .string($0.text)] })
        }
        self = .object(object)
    }
}
