import Testing

@testable import HubWire

@Suite struct XMLWriterTests {
    @Test func `elements are written without whitespace, and texts are escaped`() {
        var writer = XMLWriter()
        writer.element("a", ["b": "1\"<&", "c": "2"]) { writer in
            writer.element("d", text: "<&>\"'")
            writer.element("e", ifPresent: nil)
            writer.element("f", orNil: nil)
            writer.element("f", orNil: "x")
            writer.element("g") { _ in }
            writer.empty("h", ["i": "j"])
            writer.element("k", text: "")
        }
        let text =
            #"<a b="1&quot;&lt;&amp;" c="2"><d>&lt;&amp;&gt;"'</d><f i:nil="true"/><f>x</f><g/><h i="j"/><k></k></a>"#
        #expect(writer.text == text)
    }

    @Test(arguments: ["", "<&>", "]]>", "a]]>b]]]>", "]]", "é😀\r\n"])
    func `a CDATA section reads back unchanged`(text: String) throws {
        var writer = XMLWriter()
        writer.element("a", cdata: text)
        #expect(writer.text.hasPrefix("<a><![CDATA["))
        // An XML reader converts every line ending to a line feed.
        let expected = text.utf8.map { $0 }.filter { $0 != 0x0D }
        #expect(try Array(XMLElement(parsing: writer.bytes, limit: 100).text.utf8) == expected)
    }

    @Test func `characters that XML does not allow are replaced`() {
        var writer = XMLWriter()
        writer.element("a", text: "x\u{0}y")
        #expect(writer.text == "<a>x\u{FFFD}y</a>")
    }
}
