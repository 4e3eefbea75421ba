package import Lua
package import PushModel

/// The arguments of a flow as JSON instead of command-line options.
package struct JSONArguments: Sendable {
    private let parameters: [FlowParameter]

    package init(_ declaration: FlowDeclaration) { parameters = declaration.parameters }

    /// The script's values, and the names of the secret ones. Throws `args.invalid` (400), whose detail `faults` lists every problem with
    /// its argument's name.
    ///
    /// - Parameter ignoringInvalidValues: Whether undeclared and invalid arguments are ignored.
    package func resolve(_ given: JSONObject, ignoringInvalidValues: Bool = false) throws(LuaError) -> (
        values: JSONObject, secrets: [String]
    ) {
        var (values, faults) = (JSONObject(), [(name: String, text: String)]())
        for (name, value) in given.members {
            guard let parameter = parameters.first(where: { $0.name == name }) else {
                let near = nearest(name, in: parameters.map(\.name))
                faults.append(
                    (
                        name,
                        "unknown argument \"\(name.prefix(80))\""
                            + (near.map { "; did you mean \"\($0)\"?" }
                                ?? (parameters.isEmpty
                                    ? "; it has none" : "; it has \(parameters.map(\.name).joined(separator: ", "))"))
                    ))
                continue
            }
            // Null counts as not given.
            if value.isNull { continue }
            let fitting = ignoringInvalidValues ? parameter.joined(value) : value
            if let fault = parameter.fault(of: fitting) {
                faults.append((name, "\(name): \(fault)"))
            } else {
                values[name] = fitting
            }
        }
        if ignoringInvalidValues { faults = [] }
        for parameter in parameters where values[parameter.name] == nil {
            if let standard = parameter.defaultValue?.json {
                values[parameter.name] = standard
            } else if parameter.isRequired, !faults.contains(where: { $0.name == parameter.name }) {
                let summary = parameter.summary.isEmpty ? "" : " (\(parameter.summary))"
                faults.append((parameter.name, "\(parameter.name)\(summary) is missing"))
            }
        }
        guard faults.isEmpty else { throw Self.refusal(faults) }
        return (values, parameters.filter(\.isSecret).map(\.name))
    }

    private static func refusal(_ faults: [(name: String, text: String)]) -> LuaError {
        var error = LuaError.failure(
            "args.invalid", faults.map(\.text).joined(separator: "; "), hint: "the arguments are declared with push.args in the script",
            details: [
                "faults": .table(
                    LuaTable(
                        array: faults.map { .table(LuaTable(fields: ["name": .string($0.name), "message": .string($0.text)])) }))
            ])
        error.status = 400
        return error
    }

    /// The JSON Schema (2020-12) of the arguments object.
    package var schema: JSON {
        let properties = parameters.map { ($0.name, $0.schema) }
        let required = parameters.filter { $0.isRequired && $0.defaultValue == nil }.map { JSON.string($0.name) }
        var schema: JSONObject = ["type": "object", "properties": .object(JSONObject(properties)), "additionalProperties": false]
        if !required.isEmpty { schema["required"] = .array(required) }
        return .object(schema)
    }
}

extension FlowParameter {
    /// Why a value is invalid for this parameter; nil if it is valid.
    fileprivate func fault(of json: JSON) -> String? {
        let value: LuaValue
        switch (kind, json) {
        case (.string, .string), (.boolean, .bool), (.number, .integer), (.number, .number), (.json, _): value = LuaValue(json)
        case (.integer, .numeral) where json.int == nil, (.number, .numeral):
            return "it must be a number that 64 bits hold without losing digits, not \(json.text().prefix(40))"
        case (.integer, _):
            guard json.string == nil, let number = json.int else { return "it must be a whole number, not \(json.phrase)" }
            value = .integer(Int64(number))
        case (.duration, .string), (.duration, .integer), (.duration, .number):
            value = .string(json.string ?? "\(json.text())s")
        default:
            let wanted =
                switch kind {
                case .string: "a string"
                case .boolean: "true or false"
                case .number, .integer: "a number"
                case .duration: "a duration such as \"90s\""
                case .json: "JSON"
                }
            return "it must be \(wanted), not \(json.phrase)"
        }
        return fault(of: value)
    }

    /// For a text parameter, converts a list to its items joined by commas.
    fileprivate func joined(_ json: JSON) -> JSON {
        guard kind == .string, let items = json.array else { return json }
        return .string(items.map(\.plainText).joined(separator: ","))
    }

    fileprivate var schema: JSON {
        var schema = JSONObject()
        switch kind {
        case .json: break
        case .duration:
            schema["type"] = ["string", "number"]
            schema["format"] = "duration: 90s, 1h, or seconds"
        case .string, .integer, .number, .boolean: schema["type"] = .string(kind.rawValue)
        }
        if !summary.isEmpty { schema["description"] = .string(summary) }
        if let standard = defaultValue?.json { schema["default"] = standard }
        func bound(_ value: Double) -> JSON { Int64(exactly: value).map { .integer($0) } ?? .number(value) }
        if let minimum { schema["minimum"] = bound(minimum) }
        if let maximum { schema["maximum"] = bound(maximum) }
        if !choices.isEmpty { schema["enum"] = .array(choices.map(JSON.string)) }
        if isSecret { schema["writeOnly"] = true }
        return .object(schema)
    }
}

extension JSON {
    fileprivate var phrase: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number, .numeral: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
