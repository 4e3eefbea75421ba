import Testing

@testable import Simulators

@Suite("Parsing of requests")
struct WireReadingTests {
    @Test("JSON keeps its order and spelling", arguments: [#"{"b":1.50,"a":[true,null,"x\ny"]}"#, "[]", #""é""#])
    func json(text: String) {
        #expect(JSONValue(Array(text.utf8))?.text == text)
    }

    @Test("Escapes are resolved")
    func escapes() {
        #expect(JSONValue(Array(#""\u0041\ud83d\ude00\/""#.utf8)) == .string("A😀/"))
    }

    @Test(
        "Invalid JSON is rejected",
        arguments: [
            "", "{", "[1,]", #"{"a":1,}"#, "01", "1.", "+1", "nul", #""\ud800""#, #""\x""#, "\"\n\"", "{} {}", "NaN",
        ])
    func badJSON(text: String) {
        #expect(JSONValue(Array(text.utf8)) == nil)
    }

    @Test("Depth is limited")
    func depth() {
        #expect(JSONValue(Array(String(repeating: "[", count: 100_000).utf8)) == nil)
    }

    @Test("Base64url is encoded and decoded", arguments: ["", "f", "fo", "foo", "foob", "\u{0}\u{7f}"])
    func base64URL(text: String) {
        #expect(Base64URL.bytes(Base64URL.text(Array(text.utf8))) == Array(text.utf8))
    }

    @Test("Invalid base64url is rejected", arguments: ["=", "Zg==", "Zh", "Z", "Z+", "Z/"])
    func badBase64URL(text: String) {
        #expect(Base64URL.bytes(text) == nil)
    }

    @Test(
        "XML that is not well-formed is rejected",
        arguments: [
            "", "a", "<a>", "<a></b>", "<a b></a>", "<a b='1' b='2'/>", "<a/><b/>", "<a>&x;</a>", "<!DOCTYPE a><a/>",
        ])
    func badXML(text: String) {
        #expect(XMLNode(Array(text.utf8)) == nil)
    }

    @Test("XML is read with its attributes, comments and character data")
    func xml() {
        let node = XMLNode(Array("<?xml version='1.0'?><!-- x --><a b=\"1 &lt; 2\">t<c><![CDATA[<>]]></c></a>\n".utf8))
        #expect(node?.attributes == ["b": "1 < 2"])
        #expect(node?.text == "t<>")
        #expect(node?.first("c")?.text == "<>")
    }
}
