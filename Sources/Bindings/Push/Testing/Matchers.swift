import Lua

/// Descriptions of the matchers, for argument checks. The prelude implements them. They are not in the module's list because only the
/// result of `push.expect` has them.
enum Matchers {
    static let all: [Binding] = [
        matcher("equal", "equal to the value", .required("wanted", .any, "the expected value; nil must be written explicitly")),
        matcher("exist", "anything but nil"), matcher("be_nil", "nil"),
        matcher("be_true", "exactly true"), matcher("be_false", "exactly false, not nil"),
        matcher("be_a", "of this type: string, integer, table, …", .required("type", .oneOf(types), "the name of a type")),
        matcher("be_above", "more than the number", .required("least", .number, "a number")),
        matcher("be_below", "less than the number", .required("most", .number, "a number")),
        matcher("be_at_least", "the number or more", .required("least", .number, "a number")),
        matcher("be_at_most", "the number or less", .required("most", .number, "a number")),
        matcher(
            "contain", "text with this part, or a table with this element", .required("part", .any, "a part of the text, or an element")),
        matcher("match", "text that a Lua pattern matches", .required("pattern", .string, "a pattern such as \"^%d+$\"")),
        matcher(
            "have_been_called", "a spy that was called, or was called this number of times",
            .optional("times", .integer, "the number of calls; any number without it")),
        matcher(
            "have_been_called_with", "a spy with a call that had exactly these arguments", .optional("…", .any, "the arguments")),
        matcher("have_length", "this number of elements or bytes", .required("length", .integer, "the number")),
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    static func named(_ name: String) -> Binding? { byName[name] }

    /// The matchers as fields of `push.Matchers`.
    static var fields: [TypeDescription.Field] {
        all.map { matcher in
            let parameters = matcher.parameters.map { "\($0.mark): \($0.type == .oneOf(types) ? "string" : $0.type.annotation)" }
            return TypeDescription.Field(matcher.shortName, "fun(\(parameters.joined(separator: ", ")))", matcher.summary)
        }
    }

    /// The results of `type` and `math.type`.
    private static let types = [
        "string", "number", "integer", "float", "boolean", "table", "function", "userdata", "nil", "thread",
    ]

    private static func matcher(_ name: String, _ summary: String, _ parameters: Parameter...) -> Binding {
        Binding(
            "push.expect(…).to.\(name)", summary,
            takes: .positional(parameters),
            example: "", body: .prelude)
    }
}
