import LuaSyntax
import Testing

@Suite struct LexerTests {
    private func kinds(_ source: String) throws -> [Token.Kind] {
        var lexer = Lexer(SourceText(Array(source.utf8)))
        var kinds: [Token.Kind] = []
        while true {
            let token = try lexer.next()
            if token.kind == .end { return kinds }
            kinds.append(token.kind)
        }
    }

    private func value(_ literal: String) throws -> [UInt8] {
        guard case .string(let bytes)? = try kinds(literal).first else { return [] }
        return bytes
    }

    @Test(
        arguments: [
            ("3", .integer(3)), ("0x10", .integer(16)), ("0xffffffffffffffff", .integer(-1)), ("0x1ffffffffffffffff", .integer(-1)),
            ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("3.0", .number(3)),
            (".5", .number(0.5)),
            ("3.", .number(3)), ("1e2", .number(100)), ("1E+2", .number(100)), ("0x.8", .number(0.5)), ("0xA.8p1", .number(21)),
            ("0x1p-1", .number(0.5)),
            ("1e999", .number(.infinity)), ("007", .integer(7)),
        ] as [(String, Token.Kind)])
    func `numbers have the same value as in Lua`(spelling: String, kind: Token.Kind) throws {
        #expect(try kinds(spelling) == [kind])
    }

    @Test(
        arguments: [
            (#"'a\n\065\x41\u{e9}\z   b'"#, Array("a\nAAéb".utf8)), (#""\'\"\\""#, Array("'\"\\".utf8)),
            ("[[\n a\r\nb]]", Array(" a\nb".utf8)),
            ("[==[ ]] ]==]", Array(" ]] ".utf8)), ("'\\\n'", [0x0a]), (#"'\255\0'"#, [0xff, 0]),
            (#"'\u{7FFFFFFF}'"#, [0xfd, 0xbf, 0xbf, 0xbf, 0xbf, 0xbf]),
            ("[[\r\n\r\n]]", [0x0a]),
        ] as [(String, [UInt8])])
    func `strings have the same bytes as in Lua`(literal: String, bytes: [UInt8]) throws {
        #expect(try value(literal) == bytes)
    }

    @Test func `each byte of a string has its position in the source`() {
        let source = SourceText(Array(#"x = "a\tb\u{e9}c""#.utf8))
        // a, tab, b, two bytes of é, c, and the quote.
        #expect(source.origins(ofString: 4..<16) == [5, 6, 8, 9, 9, 15, 16])
        let long = SourceText(Array("[==[\nab]==]".utf8))
        #expect(long.origins(ofString: 0..<11) == [5, 6, 7])
    }

    @Test func `columns count characters, and lines end as in Lua`() {
        let text = SourceText(Array("é = 1\r\nx👍y\n\rz\rw\n".utf8))
        #expect(text.lineCount == 5)
        #expect((1...5).map(text.line) == ["é = 1", "x👍y", "z", "w", ""])
        #expect(text.position(at: 2) == SourcePosition(line: 1, column: 2))
        #expect(text.position(at: 13) == SourcePosition(line: 2, column: 3))
        #expect(text.position(at: 16) == SourcePosition(line: 3, column: 1))
        #expect(text.position(at: 1000) == SourcePosition(line: 5, column: 1))
        let marked = SourceText([0xef, 0xbb, 0xbf] + Array("#!lua\nx".utf8))
        #expect(marked.position(at: 3) == SourcePosition(line: 1, column: 1))
        #expect(marked.line(1) == "#!lua")
        #expect(marked.position(at: 9) == SourcePosition(line: 2, column: 1))
    }

    @Test func `the longest matching symbol is read`() throws {
        let signs: [Symbol] = [
            .ellipsis, .concatenate, .dot, .shiftLeft, .lessOrEqual, .label, .colon, .doubleSlash, .notEqual, .equal, .assign,
        ]
        #expect(try kinds("... .. . << <= :: : // ~= == =") == signs.map(Token.Kind.symbol))
        #expect(try kinds("....") == [.symbol(.ellipsis), .symbol(.dot)])
        #expect(try kinds("a.b..c") == [.name("a"), .symbol(.dot), .name("b"), .symbol(.concatenate), .name("c")])
    }
}
