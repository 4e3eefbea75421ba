import HTTPTypes

/// Accesses header fields by lower-case names.
extension HTTPFields {
    /// All values of a field, in the order received.
    func all(_ name: String) -> [String] {
        compactMap { $0.name.canonicalName == name ? $0.value : nil }
    }

    /// The first value of a field.
    func first(_ name: String) -> String? {
        first { $0.name.canonicalName == name }?.value
    }

    /// Appends a field; ignores an invalid name (RFC 9110 section 5.1).
    mutating func add(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        append(HTTPField(name: name, value: value))
    }

    /// The token of `Authorization: Bearer …` (RFC 6750 section 2.1); the scheme is case-insensitive.
    var bearer: String? {
        guard let value = first("authorization") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}

extension StringProtocol {
    /// The text without leading and trailing spaces and tabs: optional whitespace (RFC 9110 section 5.6.3).
    var trimmedOfBlanks: SubSequence {
        let start = firstIndex { $0 != " " && $0 != "\t" } ?? endIndex
        let end = self[start...].lastIndex { $0 != " " && $0 != "\t" }.map { index(after: $0) } ?? start
        return self[start..<end]
    }
}

/// A response with its body.
typealias Answer = (response: HTTPResponse, body: [UInt8])

/// Creates a JSON response.
func answer(_ status: Int, json: JSONValue, fields: HTTPFields = [:]) -> Answer {
    var fields = fields
    fields.add("content-type", "application/json; charset=UTF-8")
    return (HTTPResponse(status: .init(code: status), headerFields: fields), json.bytes)
}
