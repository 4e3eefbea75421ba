import Lua
import PushModel

/// JSON as text and as values.
enum JSONBindings {
    static let jsonEncode = Binding(
        "push.json.encode", "Encodes a value as JSON, with members in alphabetical order.",
        takes: .positional([
            .optional("value", .any, "nil, booleans, numbers, strings, push.json.null and tables of these"),
            .optional("pretty", .boolean, "with line breaks"),
        ]),
        returns: "string", when: .in(.everywhere), errors: ["json.unsupported"],
        example: "print(push.json.encode { alert = \"Hello\" })",
        body: .sync { arguments, _ in
            let json: JSON
            do throws(JSONConversionError) {
                json = try (arguments.value("value") ?? .nil).json(named: "value")
            } catch {
                throw error.error(in: "push.json.encode")
            }
            return json.text(pretty: arguments.boolean("pretty") ?? false, sortedKeys: true)
        })

    static let jsonDecode = Binding(
        "push.json.decode",
        "Decodes JSON. Null becomes push.json.null. Arrays, also empty ones, are encoded as arrays again. Numbers with a fraction or "
            + "an exponent become Lua floats. A number of which a Lua number would lose digits keeps them; tostring returns them.",
        takes: .positional([.required("text", .string, "a JSON text")]),
        returns: "any|push.Null|push.Numeral", when: .in(.everywhere), errors: ["json.invalid"],
        example: "print(push.json.decode('{\"alert\":\"Hello\"}').alert)",
        body: .sync { arguments, _ in
            do {
                return LuaValue(try JSON(parsing: arguments.string("text") ?? ""))
            } catch let error as JSONError {
                throw LuaError.failure(
                    "json.invalid", "not JSON: \(error.message.asClause) at line \(error.line), column \(error.column)",
                    details: ["line": .integer(Int64(error.line)), "column": .integer(Int64(error.column))])
            }
        })

    static let jsonArray = Binding(
        "push.json.array", "Marks a table as a list, so that it is encoded as a JSON array even if it is empty. Returns the same table.",
        takes: .positional([.optional("list", .table, "a list; a new empty one if absent")]),
        returns: "table", when: .in(.everywhere),
        example: "print(push.json.encode { args = push.json.array {} })", body: .prelude)

    static let jsonNull = Binding(
        "push.json.null", "The value that represents JSON's null, for members and elements.",
        takes: .value,
        returns: "push.Null", when: .in(.everywhere),
        example: "print(push.json.encode { badge = push.json.null })", body: .prelude)
}

extension TypeDescription {
    static let null = TypeDescription("push.Null", "JSON's null. It is not nil, so it counts as true in conditions; compare it with ==.")

    static let numeral = TypeDescription(
        "push.Numeral",
        "A number from JSON of which a Lua number would lose digits. tostring returns its digits, and JSON encodes them unchanged.")
}
