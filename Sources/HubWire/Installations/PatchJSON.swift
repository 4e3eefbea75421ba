package import PushModel

/// Reads and writes the operations of `PATCH installations/{id}` as JSON.
package enum PatchJSON {
    /// Maximum number of operations in one request.
    package static let maximumCount = 1000

    /// Reads the body of `PATCH installations/{id}`: an array of objects with `op`, `path` and, except for removals, `value`.
    ///
    /// Throws `installation.invalid` (400) for invalid JSON, `installation.patch` (400) if it is not such an array.
    package static func operations(body: [UInt8]) throws(PushError) -> [PatchOperation] {
        guard let items = try InstallationJSONReader.json(body).array, items.count <= maximumCount else {
            throw refusal("the body is not an array of at most \(maximumCount) operations")
        }
        var operations: [PatchOperation] = []
        for (index, item) in items.enumerated() {
            let members = InstallationMembers(item)
            guard let kind = members?["op"]?.string.flatMap({ PatchOperation.Kind(rawValue: $0.lowercased()) }) else {
                throw refusal("operation \(index + 1) has no op add, remove or replace")
            }
            guard let path = members?["path"]?.string else { throw refusal("operation \(index + 1) has no path") }
            operations.append(PatchOperation(kind, path, members?["value"]))
        }
        return operations
    }

    /// Writes the body of `PATCH installations/{id}`. Values are strings, as Azure's clients write them; other values become strings of
    /// JSON.
    package static func document(_ operations: [PatchOperation]) -> [UInt8] {
        let items = operations.map { operation -> JSON in
            var object = JSONObject([("op", JSON.string(operation.kind.rawValue)), ("path", .string(operation.path))])
            if let value = operation.value { object.append("value", .string(value.string ?? value.text())) }
            return .object(object)
        }
        return JSON.array(items).serialized()
    }

    private static func refusal(_ why: String) -> PushError {
        PushError(
            "installation.patch", why, hint: #"send [{"op":"add","path":"/tags","value":"News"}]"#, status: 400)
    }
}
