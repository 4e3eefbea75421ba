import ArgumentParser
import PushCore

/// What a flow of a server is given on a command line.
struct FlowArguments: ParsableArguments {
    @Option(
        name: .customLong("arg"),
        help: ArgumentHelp("An argument of the flow; may be repeated.", valueName: "name=value"))
    var given: [String] = []

    /// In the types that the flow's script declares. Throws `usage.value` for what is no argument, and what the server refuses.
    func values(of flow: String, _ client: ManagementClient) async throws(PushError) -> JSON {
        guard !given.isEmpty else { return .object(JSONObject()) }
        let schema = try await client.get(ManagementClient.path("flows", flow))["parameters"]?["properties"]
        var values = JSONObject()
        for pair in given {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw PushError("usage.value", "--arg \(pair): that is no argument", hint: "write --arg name=value")
            }
            let (name, text) = (String(pair[..<equals]), String(pair[pair.index(after: equals)...]))
            guard values[name] == nil else {
                throw PushError("usage.value", "--arg \(pair): \(name) is given twice", hint: "keep one")
            }
            values[name] = Self.value(text, schema?[name])
        }
        return .object(values)
    }

    /// What does not fit is left as text, for the server to say so.
    private static func value(_ text: String, _ schema: JSON?) -> JSON {
        guard let schema, !(schema["type"]?.string == "string" || schema["type"]?.array?.contains("string") == true) else {
            return .string(text)
        }
        return (try? JSON(parsing: text)) ?? .string(text)
    }
}

extension JSON {
    /// `{"a": 1}` as `a=1`.
    var pairs: String {
        (object?.members ?? []).map { "\($0.key)=\($0.value.plainText)" }.joined(separator: " ")
    }

    /// A moment without its milliseconds.
    func moment(_ name: String) -> String {
        guard let text = self[name]?.string else { return "" }
        return Timestamp(iso8601: text)?.iso8601(fraction: false) ?? text
    }
}
