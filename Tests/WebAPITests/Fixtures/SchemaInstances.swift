import PushModel

/// Generates values that a JSON Schema (2020-12) allows, from the smallest to the largest, and checks values. It supports the
/// keywords that the document of the JSON API uses.
struct SchemaInstances {
    let document: JSON
    /// Example texts for patterns and formats that cannot be generated.
    let examples: [String: [String]]

    /// The schema of the document that a reference points to.
    func resolved(_ schema: JSON) -> JSON {
        guard let reference = schema["$ref"]?.string else { return schema }
        return reference.split(separator: "/").dropFirst().reduce(document as JSON?) { $0?[String($1)] } ?? .null
    }

    // MARK: - Generating

    /// Starts with the smallest value; nil for a pattern without an example.
    /// - Parameter name: the name of the member that the value is for.
    func values(_ schema: JSON, for name: String) -> [JSON] {
        let schema = resolved(schema)
        let types = schema["type"]?.string.map { [$0] } ?? schema["type"]?.array?.compactMap(\.string) ?? ["object"]
        return types.flatMap { values(of: $0, schema, name) }
    }

    private func values(of type: String, _ schema: JSON, _ name: String) -> [JSON] {
        switch type {
        case "string": return texts(schema, name).map { .string($0) }
        case "integer":
            let (least, most) = (schema["minimum"]?.int ?? 0, schema["maximum"]?.int ?? Int.max)
            return [.integer(Int64(least)), .number(Double(least)), .integer(Int64(most))]
        case "boolean": return [false, true]
        case "array":
            let items = schema["items"].map { values($0, for: name) } ?? []
            let least = schema["minItems"]?.int ?? 0
            let lists = [Array(items.prefix(least)), items] + (schema["uniqueItems"]?.bool == true ? [] : [items + items])
            return lists.map { .array($0) }
        default: return objects(schema, name)
        }
    }

    private func texts(_ schema: JSON, _ name: String) -> [String] {
        if let choices = schema["enum"]?.array { return choices.compactMap(\.string) }
        let key = schema["pattern"]?.string ?? schema["format"]?.string ?? name
        if let texts = examples[name] ?? examples[key] { return texts }
        guard schema["pattern"] == nil, schema["format"] == nil else { return [] }
        let (least, most) = (schema["minLength"]?.int ?? 0, schema["maxLength"]?.int ?? 1 << 17)
        return [String(repeating: "a", count: least), String(repeating: "é", count: most)]
    }

    private func objects(_ schema: JSON, _ name: String) -> [JSON] {
        guard let properties = schema["properties"]?.object?.members else { return maps(schema, name) }
        let every = properties.map { (name: $0.key, values: values($0.value, for: $0.key)) }
        let required = schema["required"]?.array?.compactMap(\.string) ?? []
        let optional = every.map(\.name).filter { !required.contains($0) }
        // No optional member, each alone, each pair, and all.
        var choices: [[String]] = [[]]
        for one in optional.indices {
            choices.append([optional[one]])
            for other in optional.indices where other > one { choices.append([optional[one], optional[other]]) }
        }
        choices.append(optional)
        var found: [JSON] = []
        for names in choices {
            let members = every.filter { required.contains($0.name) || names.contains($0.name) }
            guard members.allSatisfy({ !$0.values.isEmpty }) else { continue }
            let smallest = JSONObject(members.map { ($0.name, $0.values[0]) })
            found.append(.object(smallest))
            for (name, values) in members where names.count < 2 {
                for value in values.dropFirst() {
                    var object = smallest
                    object[name] = value
                    found.append(.object(object))
                }
            }
        }
        return found.filter { allows(schema, $0) }
    }

    private func maps(_ schema: JSON, _ name: String) -> [JSON] {
        let text: JSON = ["type": "string"]
        let names = schema["propertyNames"].map { values(text.merged($0), for: "") }?.compactMap(\.string) ?? ["a", "é b"]
        let inner: [JSON] = schema["additionalProperties"].map { values($0, for: name) } ?? [.null, 1.5, [], "a"]
        var found: [JSON] = [.object(JSONObject())]
        if let first = inner.first { found += names.map { .object(JSONObject([($0, first)])) } }
        if let key = names.first { found += inner.dropFirst().map { .object(JSONObject([(key, $0)])) } }
        return found.filter { allows(schema, $0) }
    }

    // MARK: - Checking

    /// Whether the keywords about several members allow a value, whose parts are valid already.
    func allows(_ schema: JSON, _ value: JSON) -> Bool {
        let schema = resolved(schema)
        func all(_ keyword: String, _ test: (Int) -> Bool) -> Bool {
            schema[keyword]?.array.map { parts in test(parts.count { allows($0, value) }) } ?? true
        }
        let object = value.object
        guard all("oneOf", { $0 == 1 }), all("anyOf", { $0 > 0 }), schema["allOf"]?.array?.allSatisfy({ allows($0, value) }) ?? true,
            schema["not"].map({ !allows($0, value) }) ?? true,
            schema["required"]?.array?.allSatisfy({ object?[$0.string ?? ""] != nil }) ?? true,
            (object?.count ?? 0) >= schema["minProperties"]?.int ?? 0
        else { return false }
        for (name, others) in schema["dependentRequired"]?.object?.members ?? [] where object?[name] != nil {
            guard others.array?.allSatisfy({ object?[$0.string ?? ""] != nil }) ?? true else { return false }
        }
        if let condition = schema["if"] {
            guard (allows(condition, value) ? schema["then"] : schema["else"]).map({ allows($0, value) }) ?? true else { return false }
        }
        return schema["properties"]?.object?.members.allSatisfy { name, inner in
            object?[name].map { allows(inner, $0) } ?? true
        } ?? true && schema["const"].map { $0 == value } ?? true
    }
}

extension JSON {
    fileprivate func merged(_ other: JSON) -> JSON {
        var object = self.object ?? JSONObject()
        for (name, value) in other.object?.members ?? [] { object[name] = value }
        return .object(object)
    }
}
