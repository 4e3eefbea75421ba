import PushModel
import Testing

@Suite struct JSONValueTests {
    @Test func `Members are written in their order, and sorted on request`() {
        let value: JSON = ["b": 1, "a": [true, .null, 1.5, "x\n"], "c": [:], "d": []]
        #expect(value.text() == #"{"b":1,"a":[true,null,1.5,"x\n"],"c":{},"d":[]}"#)
        #expect(value.text(sortedKeys: true) == #"{"a":[true,null,1.5,"x\n"],"b":1,"c":{},"d":[]}"#)
        #expect(
            value.text(pretty: true) == """
                {
                  "b": 1,
                  "a": [
                    true,
                    null,
                    1.5,
                    "x\\n"
                  ],
                  "c": {},
                  "d": []
                }
                """)
    }

    @Test func `Only control characters, quotes and backslashes are escaped`() {
        var bytes: [UInt8] = []
        JSON.escape("\"\\/\u{0}\u{1F}\u{7F}\t\u{8}\u{C}\r\né😀\u{2028}", into: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self) == #"\"\\/\u0000\u001f"# + "\u{7F}" + #"\t\b\f\r\n"# + "é😀\u{2028}")
    }

    @Test func `Numbers that JSON cannot write become null`() {
        #expect(JSON.array([.number(.nan), .number(.infinity)]).text() == "[null,null]")
    }

    @Test func `Numbers keep their original text on request`() throws {
        let text = "[12345678901234567890,1e3,12.50,-0,7,[1.0]]"
        let kept = try JSON(parsing: text, numbers: .asWritten)
        #expect(kept.text() == text)
        #expect(kept.array?.map(\.plainText) == ["12345678901234567890", "1e3", "12.50", "-0", "7", "[1.0]"])
        #expect(kept.array?[1].int == 1000 && kept.array?[2].double == 12.5 && kept.array?[4] == 7)
        #expect(try JSON(parsing: text).array?[1] == .number(1000))
        #expect(throws: JSONError.self) { try JSON(parsing: "[1e]", numbers: .asWritten) }
    }

    @Test func `Read without loss, a number keeps its text unless a Double has the same`() throws {
        let text = "[12345678901234567890,1e3,12.50,-0,7,1.5,0.1,0.12345678901234567890123,1e400]"
        let kept = try JSON(parsing: text, numbers: .lossless)
        #expect(kept.text() == text)
        #expect(kept.array?[4] == 7 && kept.array?[5] == 1.5 && kept.array?[6] == 0.1 && kept.array?[2] == .numeral("12.50"))
        let values = kept.numbersAsValues.array
        #expect(values?[1] == .number(1000) && values?[2] == 12.5 && values?[0] == .numeral("12345678901234567890"))
        #expect(try JSON(parsing: #"{"a":[{"b":12.50}]}"#, numbers: .lossless).numbersAsValues == ["a": [["b": 12.5]]])
    }

    @Test(arguments: [
        "123456789012345678901234567890.5", "9007199254740993.0", "-9007199254740993e0", "1e-400", "-1.5e-400", "0.12345678901234567890123",
        "1234567890123456.7", "8.4100000000000003", "1.00000000000000000001", "1.23456e-322", "0e99999999999999999999",
    ])
    func `A number of which a Double would lose digits keeps its text`(text: String) throws {
        #expect(try JSON(parsing: text) == .numeral(text))
        #expect(try JSON(parsing: text, numbers: .lossless).numbersAsValues.text() == text)
    }

    @Test(
        arguments: [
            ("12.50", 12.5), ("1E+3", 1000), ("0e5", 0), ("0.00", 0), ("9007199254740992.0", 0x1p53), ("100000000000000000000.0", 1e20),
            ("1e23", 1e23), ("5e-324", .leastNonzeroMagnitude), ("1.7976931348623157e308", .greatestFiniteMagnitude),
            ("0.30000000000000004", 0.1 + 0.2),
            ("2.50000000000000000000", 2.5),
            // The value rounded to 17 digits.
            ("0.10000000000000001", 0.1), ("8.4100000000000001", 8.41), ("-1.1000000000000001", -1.1),
        ] as [(String, Double)])
    func `A number that a Double holds is read as one, however it is written`(text: String, value: Double) throws {
        #expect(try JSON(parsing: text) == .number(value))
    }

    @Test func `The integer of a number is exact`() {
        #expect(JSON.numeral("9007199254740993.0").int == 9_007_199_254_740_993)
        #expect(JSON.numeral("-9223372036854775808.0").int == .min && JSON.numeral("9223372036854775808").int == nil)
        #expect(JSON.numeral("12e2").int == 1200 && JSON.numeral("0.0").int == 0 && JSON.numeral("1.5").int == nil)
        #expect(JSON.numeral("1e1000000").int == nil)
    }

    @Test func `An accessor returns a value of its own kind only`() {
        #expect(JSON.string("a").string == "a")
        #expect(JSON.integer(1).string == nil)
        #expect(JSON.number(1000).int == 1000)
        #expect(JSON.number(1.5).int == nil)
        #expect(JSON.number(1e300).int == nil)
        #expect(JSON.integer(2).double == 2)
        #expect(JSON.bool(true).bool == true)
        #expect(JSON.null.isNull)
        let value: JSON = ["a": [1]]
        #expect(value["a"]?.array == [1])
        #expect(value["b"] == nil)
        #expect(JSON.null["a"] == nil)
    }

    @Test(arguments: [3, 40]) func `Setting a member keeps its position, and setting nil removes it`(_ count: Int) {
        var object = JSONObject((0..<count).map { ("k\($0)", JSON.integer(Int64($0))) })
        object["k1"] = "new"
        #expect(object.members[1].value == "new")
        object["k0"] = nil
        object["absent"] = nil
        #expect(object.keys == (1..<count).map { "k\($0)" })
        #expect(object["k2"] == 2)
        object.append("k2", "again")
        object.append("z", 0)
        #expect(object.keys == (1..<count).map { "k\($0)" } + ["z"])
        #expect(object["k2"] == "again")
    }

    @Test func `Objects are equal in any member order`() {
        let left: JSON = ["a": 1, "b": 2]
        let right: JSON = ["b": 2, "a": 1]
        #expect(left == right)
        #expect(left != ["a": 1])
        #expect(left != ["a": 1, "b": 3])
        #expect(JSON.integer(1) != JSON.number(1))
    }
}
