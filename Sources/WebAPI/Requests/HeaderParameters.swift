import HubWire

/// A header value with parameters, such as `multipart/mixed; boundary="x"` (RFC 9110, section 5.6.6). Whitespace around `=` is accepted,
/// because some clients write it.
struct HeaderParameters {
    /// The text before the first semicolon, in lower case.
    let value: String
    private var parameters: [String: String] = [:]

    init(_ text: String) {
        var fields: [String] = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if character == ";", !isQuoted {
                fields.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && isQuoted && !isEscaped
            fields[fields.count - 1].append(character)
        }
        value = fields[0].trimmed.lowercased()
        for field in fields.dropFirst() {
            guard let sign = field.firstIndex(of: "=") else { continue }
            let name = field[..<sign].trimmed.lowercased()
            parameters[name] = parameters[name] ?? Self.unquoted(field[field.index(after: sign)...].trimmed)
        }
    }

    /// - Parameter name: In lower case.
    subscript(name: String) -> String? { parameters[name] }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        var result = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            isEscaped = character == "\\" && !isEscaped
            if !isEscaped { result.append(character) }
        }
        return result
    }
}
