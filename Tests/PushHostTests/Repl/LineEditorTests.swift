import Testing

@testable import PushHost

@Suite struct LineEditorTests {
    /// Feeds terminal input to an editor.
    private func typed(_ text: String, into editor: inout LineEditor) -> [LineEditor.Effect] {
        var decoder = KeyDecoder()
        return text.utf8.compactMap { decoder.take($0) }.map { editor.take($0) }
    }

    private func line(_ text: String) -> String {
        var editor = LineEditor()
        _ = typed(text, into: &editor)
        return "\(editor.textBeforeCursor)|\(editor.text.dropFirst(editor.textBeforeCursor.count))"
    }

    @Test(
        arguments: [
            ("abc\u{1b}[D\u{1b}[Dx", "ax|bc"), ("abc\u{1}x\u{5}y", "xabcy|"), ("abc\u{1b}[Hx\u{1b}[Fy", "xabcy|"),
            ("abc\u{1b}OHx\u{1b}OFy", "xabcy|"), ("abc\u{1b}[1~\u{1b}[3~", "|bc"), ("abc\u{7f}\u{8}", "a|"),
            ("abc def\u{2}\u{2}\u{b}", "abc d|"), ("abc def\u{2}\u{15}", "|f"), ("push.send x\u{17}\u{17}", "push.|"),
            ("abc def\u{17}\u{1}\u{19}", "def|abc "), ("ab cd\u{1b}b\u{1b}bx\u{1b}fy", "xaby| cd"),
            ("ab cd\u{1b}[1;5D\u{1b}d", "ab |"), ("abc\u{1}\u{4}", "|bc"), ("\u{7f}\u{1b}[D\u{1b}[C\u{b}\u{15}\u{17}", "|"),
        ])
    func `keys edit the line as in a shell`(keys: String, result: String) {
        #expect(line(keys) == result)
    }

    @Test(
        arguments: [
            ("é日\u{7f}", "é|"), ("e\u{301}x\u{1b}[D\u{7f}", "|x"), ("👩\u{200d}💻!\u{1b}[D\u{7f}", "|!"),
            ("🇵🇹\u{7f}a", "a|"), ("日本\u{1b}[Dx", "日x|本"),
        ])
    func `a grapheme cluster is edited as one character`(keys: String, result: String) {
        #expect(line(keys) == result)
    }

    @Test func `bytes that are not a key are ignored, and the next key is decoded correctly`() {
        var decoder = KeyDecoder()
        let bytes: [UInt8] =
            [0xff, 0xc3, 0x28, 0xe6, 0x97, 0x61, 0xed, 0xa0, 0x80, 0x80]
            + Array("\u{1b}[2~b\u{1b}[99;99;99;99;99;99Zc\u{1b}xd\u{1b}\u{1b}[Ce\0f".utf8)
        #expect(
            bytes.compactMap { decoder.take($0) } == [
                .text("("), .text("a"), .text("b"), .text("c"), .text("d"), .right, .text("e"), .text("f"),
            ])
    }

    @Test func `pasted text may contain tabs, and CR, LF or CRLF ends a line`() {
        var decoder = KeyDecoder()
        let keys = "\u{1b}[200~a\tb\u{3}\u{1b}[Ac\r\nd\n\re\u{1b}[201~\tf\r\n\n".utf8.compactMap { decoder.take($0) }
        #expect(
            keys == [
                .text("a"), .text("\t"), .text("b"), .text("c"), .enter, .text("d"), .enter, .enter, .text("e"), .tab, .text("f"), .enter,
                .enter,
            ])
    }

    @Test(arguments: [("é", 1), ("日", 2), ("✅", 2), ("🇩🇪", 2), ("👩\u{200d}💻", 2), ("e\u{301}", 1), ("❤\u{fe0f}", 2), ("\t", 4)])
    func `a character has the width that a terminal gives it`(character: Character, columns: Int) {
        #expect(character.columns == columns)
    }

    @Test func `the arrow keys move through the history and back to the draft`() {
        var editor = LineEditor()
        for line in ["one", "two", "two", "  ", "three"] {
            editor.begin()
            #expect(typed("\(line)\r", into: &editor).last == .entered)
        }
        editor.begin()
        _ = typed("dra\u{1b}[A\u{1b}[A\u{10}", into: &editor)
        #expect(editor.text == "one")
        #expect(typed("\u{1b}[A", into: &editor) == [.nothing])
        _ = typed("\u{1b}[B\u{e}\u{1b}[Bft", into: &editor)
        #expect(editor.text == "draft")
        #expect(typed("\u{1b}[B", into: &editor) == [.nothing])
        // Editing a line from the history does not change the history.
        _ = typed("\u{1b}[A!\r", into: &editor)
        editor.begin()
        _ = typed("\u{1b}[A\u{1b}[A", into: &editor)
        #expect(editor.text == "three")
    }

    @Test func `Ctrl-C discards the line, Ctrl-D ends an empty line only, Tab completes after text`() {
        var editor = LineEditor()
        #expect(typed("\u{3}\u{4}", into: &editor) == [.interrupted, .endOfInput])
        #expect(typed("\t", into: &editor) == [.edited])
        #expect(editor.text == "  ")
        #expect(typed("a\t\u{c}\u{1}\u{4}", into: &editor) == [.edited, .completion, .clearScreen, .edited, .edited])
        #expect(editor.text == " a")
    }

    @Test func `a long line is shown around the cursor and never exceeds the columns`() {
        var editor = LineEditor()
        _ = typed("0123456789日本語abc", into: &editor)
        #expect(editor.view(columns: 80).text == "0123456789日本語abc")
        #expect(editor.view(columns: 80).column == 19)
        #expect(editor.view(columns: 10) == ("日本語abc", 9))
        _ = typed("\u{1}", into: &editor)
        #expect(editor.view(columns: 13) == ("0123456789日", 0))
        for columns in -1...20 {
            for _ in 0..<8 {
                _ = typed("\u{1b}[C", into: &editor)
                let view = editor.view(columns: columns)
                #expect(view.text.reduce(0) { $0 + $1.columns } < max(columns, 2))
            }
        }
    }
}
