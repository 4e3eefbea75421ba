import HTTPTypes

/// The fields of an `application/x-www-form-urlencoded` body (WHATWG URL standard section 5.1).
struct FormBody {
    private let fields: [(name: String, value: String)]

    init(_ body: [UInt8]) {
        fields = body.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
        }
    }

    /// Whether a `Content-Type` is a form. Media types are case-insensitive, and parameters are ignored (RFC 9110 section 8.3.1).
    static func isContentType(_ value: String?) -> Bool {
        value?.split(separator: ";").first?.trimmedOfBlanks.lowercased() == "application/x-www-form-urlencoded"
    }

    var names: [String] { fields.map(\.name) }

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        var output: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                output.append(0x20)
            } else if byte == UInt8(ascii: "%"), rest.count >= 2, rest.prefix(2).allSatisfy(Hex.isDigit),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                output.append(value)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

extension HTTPRequest {
    /// The path without the query, and the fields of the query (RFC 3986 section 3.4).
    var target: (path: Substring, query: FormBody) {
        let parts = (path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts.first ?? "", FormBody(Array((parts.count > 1 ? parts[1] : "").utf8)))
    }
}
