import HTTPTypes

/// Reading and writing of header fields by their lower-case names.
extension HTTPFields {
    /// All values of a field, in order of the wire.
    func all(_ name: String) -> [String] {
        compactMap { $0.name.canonicalName == name ? $0.value : nil }
    }

    /// The first value of a field.
    func first(_ name: String) -> String? {
        first { $0.name.canonicalName == name }?.value
    }

    /// Appends a field; a name that HTTP does not allow (RFC 9110 section 5.1) is left out.
    mutating func add(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        append(HTTPField(name: name, value: value))
    }

    /// The token of `Authorization: Bearer …` (RFC 6750 section 2.1); the scheme in any case.
    var bearer: String? {
        guard let value = first("authorization") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}

extension StringProtocol {
    /// Without the blanks and tabs around it: optional whitespace (RFC 9110 section 5.6.3).
    var trimmedOfBlanks: SubSequence {
        let start = firstIndex { $0 != " " && $0 != "\t" } ?? endIndex
        let end = self[start...].lastIndex { $0 != " " && $0 != "\t" }.map { index(after: $0) } ?? start
        return self[start..<end]
    }
}

/// A status, its header fields and its body.
typealias Answer = (response: HTTPResponse, body: [UInt8])

/// An answer of JSON text.
func answer(_ status: Int, json: JSONValue, fields: HTTPFields = [:]) -> Answer {
    var fields = fields
    fields.add("content-type", "application/json; charset=UTF-8")
    return (HTTPResponse(status: .init(code: status), headerFields: fields), json.bytes)
}
