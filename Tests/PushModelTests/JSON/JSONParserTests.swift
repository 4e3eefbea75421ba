import PushModel
import Support
import Testing

@Suite struct JSONParserTests {
    @Test(
        "Every kind of value is read",
        arguments: [
            ("null", .null), (" true ", true), ("false", false), ("0", 0), ("-12", -12),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .numeral("9223372036854775808")), ("1.0", 1.0), ("-0", .number(-0.0)),
            ("1e3", 1000.0), ("2.5E-1", 0.25), (#""""#, ""), (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u00e9\ud83d\ude00""#, "é😀"), (#""\u0000""#, "\0"), ("\"é😀\"", "é😀"), ("[]", []), ("{}", [:]),
            ("[1, [2], {\"a\" : null}]\n", [1, [2], ["a": .null]]), ("\u{FEFF}1", 1),
        ] as [(String, JSON)])
    func reads(_ text: String, _ value: JSON) throws {
        #expect(try JSON(parsing: text) == value)
    }

    @Test(
        "Invalid JSON is rejected with the position",
        arguments: [
            ("", 1, 1, "The text is empty; a JSON value was expected."),
            ("  ", 1, 3, "The text is empty; a JSON value was expected."),
            ("[1,]", 1, 4, "Trailing comma before \"]\"."),
            ("{\"a\":1,}", 1, 8, "Trailing comma before \"}\"."),
            ("{a:1}", 1, 2, "A key in double quotes was expected, not \"a\"."),
            ("{\"a\" 1}", 1, 6, "\":\" was expected after the key, not \"1\"."),
            ("{\"a\":}", 1, 6, "A value was expected, not \"}\"."),
            ("{\"a\":1", 1, 7, "\",\" or \"}\" was expected, not the end of the text."),
            ("[1 2]", 1, 4, "\",\" or \"]\" was expected, not \"2\"."),
            ("[\n  tru\n]", 2, 3, "A value was expected, not \"t\"."),
            ("1 1", 1, 3, "Nothing may follow the JSON value, but \"1\" does."),
            ("01", 1, 1, "This is not a JSON number."), ("1.", 1, 1, "This is not a JSON number."),
            ("[-]", 1, 2, "This is not a JSON number."), ("1e", 1, 1, "This is not a JSON number."),
            ("1x", 1, 1, "This is not a JSON number."), ("+1", 1, 1, "A value was expected, not \"+\"."),
            (".5", 1, 1, "A value was expected, not \".\"."), ("1e999", 1, 1, "The number is too large."),
            ("NaN", 1, 1, "A value was expected, not \"N\"."),
            ("'a'", 1, 1, "Strings must be in double quotes, not single quotes."),
            ("[\"é", 1, 2, "This string is never closed."), ("\"\\", 1, 1, "This string is never closed."),
            ("\"é\n\"", 1, 3, "A control character in a string must be escaped."),
            ("\"a\\nb\0\"", 1, 6, "A control character in a string must be escaped."),
            ("\"\\x\"", 1, 2, "Invalid escape: a backslash must be followed by one of \" \\ / b f n r t u."),
            ("\"\\u12g4\"", 1, 2, "\"\\u\" needs four hexadecimal digits."),
            ("\"ab\\ud800\"", 1, 4, "Unpaired surrogate in a \\u escape."),
            ("\"\\udc00\\ud800\"", 1, 2, "Unpaired surrogate in a \\u escape."),
            ("\"\\ud800\\u0041\"", 1, 2, "Unpaired surrogate in a \\u escape."),
            ("\0", 1, 1, "A value was expected, not U+0000."),
        ])
    func refuses(_ text: String, _ line: Int, _ column: Int, _ message: String) throws {
        let error = try #require(throws: JSONError.self) { try JSON(parsing: text) }
        #expect(error.message == message)
        #expect(error.line == line)
        #expect(error.column == column)
    }

    @Test func `Bytes that are not UTF-8 are rejected with their position`() throws {
        let bytes = Array("[\"ab".utf8) + [0xC3, 0x28] + Array("\"]".utf8)
        let error = try #require(throws: JSONError.self) { try JSON(parsing: bytes) }
        #expect(error.message == "This is not UTF-8.")
        #expect(error.offset == 4)
    }

    @Test func `The last of two equal keys wins, or is rejected on request`() throws {
        let text = #"{"a":1,"b":2,"a":3}"#
        #expect(try JSON(parsing: text).object?.keys == ["a", "b"])
        #expect(try JSON(parsing: text)["a"] == 3)
        let error = try #require(throws: JSONError.self) { try JSON(parsing: text, duplicateKeys: .refused) }
        #expect(error.message == "The key \"a\" occurs twice.")
        #expect(error.column == 14)
    }

    @Test func `Nesting depth is limited`() throws {
        let deep = { (levels: Int) in String(repeating: "[", count: levels) + String(repeating: "]", count: levels) }
        _ = try JSON(parsing: deep(128))
        let error = try #require(throws: JSONError.self) { try JSON(parsing: deep(129)) }
        #expect(error.column == 129)
        for opening in ["[", "{\"a\":", "[{\"a\":"] {
            let hostile = String(repeating: opening, count: 1_000_000 / opening.utf8.count)
            #expect(throws: JSONError.self) { try JSON(parsing: hostile) }
        }
    }

    @Test func `A large object with distinct keys is read in linear time`() throws {
        let members = (0..<50_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        let value = try JSON(parsing: "{\(members)}")
        #expect(value["k49999"] == 49_999)
        #expect(value.object?.count == 50_000)
    }

    @Test func `Any value is the same after it is written and read`() throws {
        var random = SplitMix64(seed: 1)
        for _ in 0..<500 {
            let value = JSONParserTests.random(depth: 0, using: &random)
            #expect(try JSON(parsing: value.serialized()) == value)
            #expect(try JSON(parsing: value.text(pretty: true, sortedKeys: true)) == value)
        }
    }

    @Test func `Truncated or altered text is read or rejected, and never crashes`() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<500 {
            var bytes = JSONParserTests.random(depth: 0, using: &random).serialized()
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
            if !bytes.isEmpty { bytes[Int.random(in: 0..<bytes.count, using: &random)] = random.next(upperBound: 255) }
            _ = try? JSON(parsing: bytes)
        }
    }

    static func random(depth: Int, using random: inout SplitMix64) -> JSON {
        switch Int.random(in: 0..<(depth < 4 ? 9 : 6), using: &random) {
        case 0: return .null
        case 1: return .bool(random.chance(50))
        case 2: return .integer(Int64(bitPattern: random.next()))
        case 3:
            let number = Double(bitPattern: random.next())
            return .number(number.isFinite ? number : 0.5)
        case 4, 5: return .string(text(using: &random))
        case 6:
            return .array(
                (0..<Int.random(in: 0..<5, using: &random)).map { _ in self.random(depth: depth + 1, using: &random) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0..<16, using: &random) {
                object[text(using: &random)] = self.random(depth: depth + 1, using: &random)
            }
            return .object(object)
        }
    }

    static func text(using random: inout SplitMix64) -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0..<8, using: &random) {
            let bound: UInt32 = random.chance(70) ? 0x80 : 0x11_0000
            scalars.append(Unicode.Scalar(random.next(upperBound: bound)) ?? "\\")
        }
        return String(scalars)
    }
}
