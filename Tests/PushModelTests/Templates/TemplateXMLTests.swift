import PushModel
import Testing

@Suite struct TemplateXMLTests {
    @Test(arguments: [
        ("<a>", 1, "The element <a> is never closed."),
        ("<a></b>", 4, "</b> was found where </a> was expected."),
        ("<a/></a>", 5, "</a> closes nothing."),
        ("<a/><b/>", 5, "A document has one root element; this is a second one."),
        ("<a/>x", 5, "Text is not allowed after the root element."),
        ("<!-- c -->x<a/>", 11, "Text is not allowed before the root element."),
        ("<!-- c -->", 11, "The document has no element."),
        ("<a b/>", 5, "The attribute \"b\" has no value."),
        ("<a b=c/>", 6, "The value of the attribute \"b\" must stand in quotes."),
        ("<a b='c/>", 6, "This quote is never closed."),
        ("<a b='<'/>", 7, "\"<\" is not allowed in an attribute value; write \"&lt;\"."),
        ("<a b='1'c='2'/>", 9, "A space, \">\" or \"/>\" was expected in the tag <a>."),
        ("<a b='1' b='2'/>", 10, "The attribute \"b\" occurs twice."),
        ("<a b='1'", 1, "The tag <a> is never closed with \">\"."),
        ("<a 1='1'/>", 4, "The name of an attribute, \">\" or \"/>\" was expected."),
        ("<a></a", 4, "The end tag </a> is never closed with \">\"."),
        ("<1/>", 2, "After \"<\" comes the name of an element; write \"&lt;\" for a literal \"<\"."),
        ("<a>a & b</a>", 6, "\"&\" must be written \"&amp;\"."),
        ("<a>&nbsp;</a>", 4, "\"&nbsp;\" is not a known reference."),
        ("<a>&qout;</a>", 4, "\"&qout;\" is not a known reference. Did you mean \"&quot;\"?"),
        ("<a>&#0;</a>", 4, "\"&#0;\" is not a known reference."),
        ("<a>&#xD800;</a>", 4, "\"&#xD800;\" is not a known reference."),
        ("<a>&#+65;</a>", 4, "\"&#+65;\" is not a known reference."),
        ("<a>&", 4, "\"&\" must be written \"&amp;\"."),
        ("<a>]]></a>", 4, "\"]]>\" is not allowed in text; write \"]]&gt;\"."),
        ("<a><![CDATA[x</a>", 4, "The CDATA section is never closed."),
        ("<![CDATA[x]]>", 1, "A CDATA section is not allowed outside the root element."),
        ("<a><!-- x</a>", 4, "The comment is never closed."),
        ("<a><!-- x -- y --></a>", 11, "\"--\" is not allowed in a comment."),
        ("<!DOCTYPE a><a/>", 1, "A document type declaration is not allowed."),
        ("<!ELEMENT a><a/>", 1, "After \"<!\" comes a comment or a CDATA section."),
        (" <?xml version='1.0'?><a/>", 2, "The XML declaration is only allowed at the start of the document."),
        ("<?xml version='1.0'", 1, "The XML declaration is never closed."),
        ("<?p", 4, "A space or \"?>\" was expected after \"<?p\"."),
        ("<a>\u{1}</a>", 4, "The character U+0001 is not allowed in XML."),
        ("<a>é\0</a>", 5, "The character U+0000 is not allowed in XML."),
        ("<", 2, "After \"<\" comes the name of an element; write \"&lt;\" for a literal \"<\"."),
    ])
    func `Malformed XML is rejected, with the position`(_ body: String, _ column: Int, _ message: String) throws {
        let error = try #require(throws: TemplateError.self) { try Template(compiling: body) }
        #expect(error.message == "The XML is malformed: \(message)")
        #expect(error.code == "template.document")
        #expect(error.line == 1)
        #expect(error.column == column)
    }

    @Test(arguments: [
        "<a/>", "<a ></a >", "<é:ü x.y-z='1' ß = \"'\"/>", "<a>&#65;&#x1F600;&amp;]]&gt; ></a>",
        "<a><![CDATA[<&]]]]></a>",
        "<?xml version='1.0'?><?p?><a/><!----><?q r?>\n",
    ])
    func `Well-formed XML without expressions is sent unchanged`(_ body: String) throws {
        #expect(try Template(compiling: body).render(TemplateProperties([:])) == Array(body.utf8))
    }

    @Test func `Nesting depth is limited`() throws {
        let nested = { (count: Int) in
            String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count)
        }
        _ = try Template(compiling: nested(128))
        let error = try #require(throws: TemplateError.self) { try Template(compiling: nested(129)) }
        #expect(error.offset == 128 * 3)
    }

    @Test(arguments: ["<a>", "<a b='", "<", "&", "<!--", "<![CDATA[", "<a b='1' ", "]]", "<?p ", "\0"])
    func `Long invalid input is rejected quickly`(_ piece: String) {
        let text = String(repeating: piece, count: 200_000 / piece.utf8.count)
        #expect(throws: TemplateError.self) { try Template(compiling: "<a>" + text) }
    }
}
