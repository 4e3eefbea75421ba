import HubWire

/// The parameters of a header's value such as `multipart/mixed; boundary="x"` (RFC 9110, section 5.6.6), and also with blanks round
/// the `=`, as some clients write them.
struct HeaderParameters {
    /// What stands before the first semicolon, in lower case.
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

    /// - Parameter name: in lower case.
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
