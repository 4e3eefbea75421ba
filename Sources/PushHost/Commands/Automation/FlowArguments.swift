import ArgumentParser
import PushModel

/// Arguments for a server's flow, as given on the command line.
struct FlowArguments: ParsableArguments {
    @Option(
        name: .customLong("arg"),
        help: ArgumentHelp("Argument of the flow; may be repeated.", valueName: "name=value"))
    var given: [String] = []

    /// The arguments in the types that the flow's script declares. Throws `usage.value` for text without `name=value`, and the server's
    /// errors.
    func values(of flow: String, _ client: ManagementClient) async throws(PushError) -> JSON {
        guard !given.isEmpty else { return .object(JSONObject()) }
        let schema = try await client.get(ManagementClient.path("flows", flow))["parameters"]?["properties"]
        var values = JSONObject()
        for pair in given {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw PushError("usage.value", "--arg \(pair): invalid argument", hint: "write --arg name=value")
            }
            let (name, text) = (String(pair[..<equals]), String(pair[pair.index(after: equals)...]))
            guard values[name] == nil else {
                throw PushError("usage.value", "--arg \(pair): \(name) is given twice", hint: "remove one of them")
            }
            values[name] = Self.value(text, schema?[name])
        }
        return .object(values)
    }

    /// Parses a value as JSON unless the schema declares a string. Text that does not parse stays text; the server then rejects it.
    private static func value(_ text: String, _ schema: JSON?) -> JSON {
        guard let schema, !(schema["type"]?.string == "string" || schema["type"]?.array?.contains("string") == true) else {
            return .string(text)
        }
        return (try? JSON(parsing: text)) ?? .string(text)
    }
}

extension JSON {
    /// Formats an object such as `{"a": 1}` as `a=1`.
    var pairs: String {
        (object?.members ?? []).map { "\($0.key)=\($0.value.plainText)" }.joined(separator: " ")
    }

    /// The member `name` as a time without milliseconds; its text unchanged if it is not a time, empty if it is absent.
    func timeText(_ name: String) -> String {
        guard let text = self[name]?.string else { return "" }
        return Timestamp(iso8601: text)?.iso8601(fraction: false) ?? text
    }
}
