import PushModel
import Support
import Testing

@testable import HubWire

@Suite struct XMLElementTests {
    private func parse(_ text: String, limit: Int = 1 << 20) throws(PushError) -> XMLElement {
        try XMLElement(parsing: Array(text.utf8), limit: limit)
    }

    @Test func `a document becomes a tree of local names, attributes and text`() throws {
        let root = try parse(
            #"<?xml version="1.0"?><a:entry xmlns:a="u" x:y="1&amp;2" z="3"> <b>x<![CDATA[<&>]]>&lt;&#65;</b><b/><!-- c --></a:entry>"#)
        #expect(root.name == "entry" && root.prefix == "a")
        #expect(root.attribute("y") == "1&2" && root.attribute("z") == "3" && root.attributes.count == 2)
        #expect(root.children.map(\.name) == ["b", "b"])
        #expect(root["b"]?.text == "x<&><A")
        #expect(root.text(of: "c") == nil)
    }

    @Test func `an element with the attribute nil has no text`() throws {
        let root = try parse(#"<a xmlns:i="u"><b i:nil="true"/><c i:nil="false">x</c><d/></a>"#)
        #expect(root.text(of: "b") == nil)
        #expect(root.text(of: "c") == "x")
        #expect(root.text(of: "d")?.isEmpty == true)
    }

    @Test func `an undeclared prefix is accepted`() throws {
        #expect(try parse(#"<a i:type="X"/>"#).attribute("type") == "X")
    }

    @Test func `the encoding is UTF-8, UTF-16 or ISO-8859-1, as the document states`() throws {
        #expect(try parse("\u{FEFF}<a>é😀</a>").text == "é😀")
        for isBig in [true, false] {
            let bytes = "\u{FEFF}<a>é😀</a>".utf16.flatMap { unit -> [UInt8] in
                let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
                return isBig ? pair : pair.reversed()
            }
            #expect(try XMLElement(parsing: bytes, limit: 100).text == "é😀")
        }
        let latin = Array(#"<?xml version="1.0" encoding="ISO-8859-1"?><a>"#.utf8) + [0xE9] + Array("</a>".utf8)
        #expect(try XMLElement(parsing: latin, limit: 100).text == "é")
    }

    @Test(
        arguments: [
            ("", 1, 1, "no element found"), ("<a>", 1, 4, "no element found"), ("<a>\n <b></a>", 2, 7, "mismatched tag"),
            ("<a/><b/>", 1, 5, "junk after document element"), ("<a>&nbsp;</a>", 1, 4, "undefined entity"),
            ("<a b=1/>", 1, 6, "not well-formed (invalid token)"), ("<a>\u{1}</a>", 1, 4, "not well-formed (invalid token)"),
            (#"<?xml version="1.0" encoding="EBCDIC"?><a/>"#, 1, 31, "unknown encoding"),
            ("<a b='1' b='2'/>", 1, 10, "duplicate attribute"),
        ])
    func `malformed XML is refused with its position`(text: String, line: Int64, column: Int64, why: String) async {
        let error = await refusal { try parse(text) }
        #expect(error?.code == "xml.invalid" && error?.status == 400)
        #expect(error?.message == "the XML cannot be read at line \(line), column \(column): \(why)")
        #expect(error?.details == ["line": .integer(line), "column": .integer(column)])
    }

    @Test func `bytes in an invalid encoding are refused`() async {
        let error = await refusal { try XMLElement(parsing: [0x3C, 0x61, 0x3E, 0xFF, 0xFE], limit: 100) }
        #expect(error?.code == "xml.invalid")
    }

    @Test(
        arguments: [
            #"<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>"#, #"<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>"#,
            "<!DOCTYPE a><a/>",
        ])
    func `a document type is refused before its content is processed`(text: String) async {
        let error = await refusal { try parse(text) }
        #expect(error?.message.hasSuffix("a document type declaration is not allowed") == true)
    }

    @Test func `depth, number and size are bounded`() async throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        _ = try parse(nested(32))
        let deep = await refusal { try parse(nested(33)) }
        #expect(deep?.message.hasSuffix("elements are nested deeper than 32 levels") == true)
        func wide(_ count: Int) -> String { "<a>" + String(repeating: "<b/>", count: count - 1) + "</a>" }
        #expect(try parse(wide(4096)).children.count == 4095)
        let many = await refusal { try parse(wide(4097)) }
        #expect(many?.message.hasSuffix("there are more than 4096 elements") == true)
        _ = try parse("<a>12</a>", limit: 9)
        let large = await refusal { try parse("<a>12</a>", limit: 8) }
        #expect(large?.code == "xml.too_large" && large?.status == 413)
    }
}
