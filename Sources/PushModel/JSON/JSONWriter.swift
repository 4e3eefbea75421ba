extension JSON {
    /// The value as UTF-8. A number that is not finite becomes `null`, because JSON cannot represent it.
    ///
    /// - Parameters:
    ///   - pretty: one member or element per line, indented by two spaces.
    ///   - sortedKeys: members in the order of their keys instead of their own.
    package func serialized(pretty: Bool = false, sortedKeys: Bool = false) -> [UInt8] {
        var writer = JSONWriter(pretty: pretty, sortedKeys: sortedKeys)
        writer.write(self)
        return writer.bytes
    }

    package func text(pretty: Bool = false, sortedKeys: Bool = false) -> String {
        String(decoding: serialized(pretty: pretty, sortedKeys: sortedKeys), as: UTF8.self)
    }

    /// Appends the text with `"`, `\` and control characters escaped, without surrounding quotes.
    package static func escape(_ text: String, into bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { source in
            var copied = 0
            for index in source.indices {
                let byte = source[index]
                guard byte < 0x20 || byte == 0x22 || byte == 0x5C else { continue }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[copied..<index]))
                copied = index + 1
                escape(byte, into: &bytes)
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[copied...]))
        }
    }

    private static func escape(_ byte: UInt8, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x22, 0x5C: bytes.append(byte)
        default:
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            bytes.append(contentsOf: String(byte & 0x0F, radix: 16).utf8)
        }
    }
}

private struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let pretty: Bool
    private let sortedKeys: Bool
    private var depth = 0

    init(pretty: Bool, sortedKeys: Bool) {
        self.pretty = pretty
        self.sortedKeys = sortedKeys
    }

    mutating func write(_ value: JSON) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(value.description)
        case .number(let value): append(value.isFinite ? value.description : "null")
        case .numeral(let text): append(text)
        case .string(let text): write(text)
        case .array(let values): list("[", values, "]") { writer, value in writer.write(value) }
        case .object(let object):
            let members = sortedKeys ? object.members.sorted { $0.key < $1.key } : object.members
            list("{", members, "}") { writer, member in
                writer.write(member.key)
                writer.append(writer.pretty ? ": " : ":")
                writer.write(member.value)
            }
        }
    }

    private mutating func list<Element>(
        _ open: String, _ elements: [Element], _ close: String, _ write: (inout JSONWriter, Element) -> Void
    ) {
        append(open)
        depth += 1
        for (index, element) in elements.enumerated() {
            if index > 0 { append(",") }
            breakLine()
            write(&self, element)
        }
        depth -= 1
        if !elements.isEmpty { breakLine() }
        append(close)
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        JSON.escape(text, into: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func breakLine() {
        guard pretty else { return }
        bytes.append(0x0A)
        bytes.append(contentsOf: repeatElement(0x20, count: depth * 2))
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
