/// An error message of Lua about an operation, parsed into its parts.
struct LuaDiagnostic {
    let operation: InvalidOperation
    /// Type of the value that the operation does not accept.
    let type: String
    /// Origin of the value: `local`, `upvalue`, `field`, `method`, `global` or `constant`.
    private(set) var origin: String?
    private(set) var name: String?

    init?(_ message: String) {
        let words = message.split(separator: " ").map(String.init)
        if message.hasPrefix("attempt to compare "), words.count == 6 {
            if words[3] == "two" {
                (operation, type) = (.comparison(with: words[4]), words[4])
            } else {
                (operation, type) = (.comparison(with: words[5]), words[3])
            }
            return
        }
        // The string library words its errors differently: "attempt to add a 'string' with a 'number'".
        if message.hasPrefix("attempt to "), message.contains(" a 'string' with a '") || message.contains("' with a 'string'") {
            let types = message.split(separator: "'").filter { !$0.contains(" ") }.map(String.init)
            (operation, type) = (.arithmetic, types.first { $0 != "string" && $0 != "number" } ?? "string")
            return
        }
        let openings: [(String, InvalidOperation)] = [
            ("attempt to perform arithmetic on a ", .arithmetic), ("attempt to perform bitwise operation on a ", .bitwise),
            ("attempt to concatenate a ", .concatenation), ("attempt to get length of a ", .length), ("attempt to call a ", .call),
            ("attempt to index a ", .index),
        ]
        guard let (opening, found) = openings.first(where: { message.hasPrefix($0.0) }) else { return nil }
        let rest = message.dropFirst(opening.count)
        guard let end = rest.firstRange(of: " value") else { return nil }
        type = String(rest[..<end.lowerBound])
        let origins = rest[end.upperBound...].split(separator: "'", omittingEmptySubsequences: false)
        guard origins.count == 3, origins[0].hasPrefix(" (") else {
            operation = found
            return
        }
        let origin = String(origins[0].dropFirst(2).dropLast())
        operation = origin == "for iterator" ? .iteration : found
        guard operation != .iteration else { return }
        guard origins[1] != "?" else { return }
        self.origin = origin
        name = String(origins[1])
    }
}
