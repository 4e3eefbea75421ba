/// The type of a request field, in the JSON form of protocol buffers (protobuf.dev, "ProtoJSON Format").
indirect enum FCMShape: Sendable {
    case text
    case flag
    /// 32 bits.
    case integer
    case number
    case duration
    case time
    /// A value of an enumeration, whose numbers begin at 0.
    case word(type: String, [String])
    case list(FCMShape)
    /// A map of strings with arbitrary keys.
    case texts
    /// An arbitrary object (google.protobuf.Struct).
    case object
    case message([String: FCMShape])

    /// Checks a value and normalises it: field names as in the reference (`collapse_key` for `collapseKey`), no null fields, enumeration
    /// values in capitals. Names chosen by the sender stay unchanged.
    ///
    /// - Parameter path: The path of the field, such as `message.android`; empty for the request itself.
    func read(_ value: JSONValue, at path: String) throws(FCMRefusal) -> JSONValue {
        switch self {
        case .text:
            guard value.string != nil else { throw Self.mismatch(value, path, "TYPE_STRING") }
            return value
        case .flag:
            if value.bool != nil { return value }
            guard let word = value.string, ["true", "false"].contains(word) else { throw Self.mismatch(value, path, "TYPE_BOOL") }
            return .bool(word == "true")
        case .integer:
            guard let integer = value.string.map({ JSONValue.number($0).integer }) ?? value.integer, let number = Int32(exactly: integer)
            else { throw Self.mismatch(value, path, "TYPE_INT32") }
            return .number(String(number))
        case .number:
            if case .number = value { return value }
            guard value.string.flatMap({ Double($0) }) != nil else { throw Self.mismatch(value, path, "TYPE_FLOAT") }
            return value
        case .duration:
            guard let text = value.string, Self.seconds(text) != nil else {
                throw Self.mismatch(value, path, "type.googleapis.com/google.protobuf.Duration")
            }
            return value
        case .time:
            guard let text = value.string, Self.isTime(text) else {
                throw Self.mismatch(value, path, "type.googleapis.com/google.protobuf.Timestamp")
            }
            return value
        case .word(let type, let words):
            // Google's own clients write "high" for HIGH.
            let word = value.string?.uppercased() ?? value.integer.flatMap { words.indices.contains(Int($0)) ? words[Int($0)] : nil }
            guard let word, words.contains(word) else {
                throw Self.mismatch(value, path, "type.googleapis.com/google.firebase.fcm.v1.\(type)")
            }
            return .string(word)
        case .list(let shape):
            // Google accepts a single value for a list.
            var elements: [JSONValue] = []
            for (index, element) in (value.elements ?? [value]).enumerated() {
                elements.append(try shape.read(element, at: "\(path)[\(index)]"))
            }
            return .array(elements)
        case .texts:
            for member in try Self.members(of: value, path) where member.value.string == nil {
                throw Self.mismatch(member.value, "\(path)[\(member.name)].value", "TYPE_STRING")
            }
            return value
        case .object:
            _ = try Self.members(of: value, path)
            return value
        case .message(let shapes): return .object(try Self.fields(of: value, shapes, at: path))
        }
    }

    private static func fields(
        of value: JSONValue, _ shapes: [String: FCMShape], at path: String
    ) throws(FCMRefusal) -> [JSONValue.Member] {
        var fields: [JSONValue.Member] = []
        var spellings: [String: String] = [:]
        for member in try members(of: value, path) {
            let name = snakeCase(member.name)
            guard let shape = shapes[name], member.name == name || !member.name.contains("_") else {
                let place = path.isEmpty ? "" : " at '\(path)'"
                throw .badSchema(path, "Invalid JSON payload received. Unknown name \"\(member.name)\"\(place): Cannot find field.")
            }
            if member.value == .null { continue }
            if let other = spellings[name] {
                guard other == member.name else {
                    throw .badSchema(
                        path, "Invalid JSON payload received. The field '\(name)' is repeated, as \"\(other)\" and \"\(member.name)\".")
                }
                // If a name is repeated with the same spelling, the last value counts, as with most parsers.
                fields.removeAll { $0.name == name }
            }
            spellings[name] = member.name
            fields.append(.init(name: name, value: try shape.read(member.value, at: path.isEmpty ? name : "\(path).\(name)")))
        }
        return fields
    }

    private static func members(of value: JSONValue, _ path: String) throws(FCMRefusal) -> [JSONValue.Member] {
        guard let members = value.members else {
            let what = path.isEmpty ? "JSON payload received" : "value at '\(path)'"
            throw .badSchema(path, "Invalid \(what) (an object is expected)")
        }
        return members
    }

    private static func mismatch(_ value: JSONValue, _ path: String, _ type: String) -> FCMRefusal {
        .badSchema(path, "Invalid value at '\(path)' (\(type)), \(value.text)")
    }

    /// Converts `collapseKey` to `collapse_key`.
    private static func snakeCase(_ name: String) -> String {
        var output = ""
        for character in name {
            if character.isASCII, character.isUppercase { output += "_" + character.lowercased() } else { output.append(character) }
        }
        return output
    }

    /// Parses a duration such as `"3.5s"`: seconds with up to nine decimals, which may be negative; `nil` for other text.
    static func seconds(_ text: String) -> Double? {
        guard text.hasSuffix("s") else { return nil }
        let number = text.dropLast()
        let parts = (number.hasPrefix("-") ? number.dropFirst() : number).split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }),
            parts.count == 1 || parts[1].utf8.count <= 9
        else { return nil }
        return Double(number)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether a text is a time such as `2014-10-02T15:01:23.045123456Z`, with up to nine decimals (RFC 3339 section 5.6).
    private static func isTime(_ text: String) -> Bool {
        let form = /(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)/.asciiOnlyDigits()
        guard let parts = text.wholeMatch(of: form)?.output, let year = Int(parts.1), let month = Int(parts.2), let day = Int(parts.3),
            let hour = Int(parts.4), let minute = Int(parts.5), let second = Int(parts.6), year > 0, (1...12).contains(month)
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
        return (1...days).contains(day) && hour < 24 && minute < 60 && second < 60
    }
}
