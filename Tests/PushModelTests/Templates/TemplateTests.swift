import PushModel
import Support
import Testing

@Suite struct TemplateTests {
    private func render(_ body: String, _ pairs: [String: String] = [:], lenient: Bool = false) throws -> String {
        let template = try Template(compiling: body, options: TemplateOptions(lenient: lenient))
        return String(decoding: template.render(TemplateProperties(pairs)), as: UTF8.self)
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"$(m)"}}"#, #"{"aps":{"alert":"say \"hi\"\n<&>"}}"#),
        (#"{ "a" : "$(m)" , "b":"x $(m)" }"#, #"{ "a" : "say \"hi\"\n<&>" , "b":"x $(m)" }"#),
        (##"{"$(m)":"#(n)"}"##, #"{"$(m)":"-1.5e3"}"#), (##"["{#(big)}","{ #( Big ) }"]"##, #"["1.5e+3","1.5e+3"]"#),
        (##"["#(big)","#(zero1)","#(minus)","#(point)"]"##, #"[1.5e+3,0.5,"-1","1."]"#), ("<t>{#(big)}</t>", "<t>1.5e+3</t>"),
        (##"["#(m)"]"##, #"["say \"hi\"\n<&>"]"#),
        (##"["#(plus)","#(blank)","#(absent)","#(zero)"]"##, #"["+1"," 1","","01"]"#),
        (#"["{'\"' + $(n)}", "\u0024(n)", "\u0041"]"#, #"["\"-1.5e3", "-1.5e3", "\u0041"]"#),
        (#"["$(absent:{\"\\}})"]"#, #"["\"}"]"#), ("\u{FEFF} [\"$(n)\"]", "\u{FEFF} [\"-1.5e3\"]"),
        ("[1,null,true]", "[1,null,true]"),
        ("<t>$(m)</t>", "<t>say \"hi\"\n&lt;&amp;&gt;</t>"),
        ("<t a='$(m)' b=\"$(n)\"/>", "<t a='say &quot;hi&quot;&#10;&lt;&amp;&gt;' b=\"-1.5e3\"/>"),
        ("<t><![CDATA[$(end)]]></t>", "<t><![CDATA[a]]]]><![CDATA[>b]]></t>"),
        ("<t>{'&lt;' + $(n) + &apos;&#x41;&apos;}</t>", "<t>&lt;-1.5e3A</t>"), ("<t>#(n)</t>", "<t>-1.5e3</t>"),
        ("<t>a $(n)</t>", "<t>a $(n)</t>"), ("<t>$(nul)</t>", "<t>a\u{FFFD}\u{FFFD}é</t>"),
        (
            "<?xml version=\"1.0\"?>\n<!-- $(n) --><t><?p $(n)?>$(n)<!--c-->$(n)</t>\n",
            "<?xml version=\"1.0\"?>\n<!-- $(n) --><t><?p $(n)?>-1.5e3<!--c-->-1.5e3</t>\n"
        ),
    ])
    func `Values are filled in and escaped for JSON or XML`(_ body: String, _ result: String) throws {
        let pairs = [
            "m": "say \"hi\"\n<&>", "n": "-1.5e3", "plus": "+1", "blank": " 1", "zero": "01", "end": "a]]>b", "big": "1.5e+3",
            "zero1": "0.5", "minus": "-1", "point": "1.",
            "nul": "a\0\u{FFFE}é",
        ]
        #expect(try render(body, pairs) == result)
    }

    @Test func `A template knows its format, properties and body`() throws {
        let body = #"{"a":"$(B)","c":"{$(a) + $(b)}"}"#
        let template = try Template(compiling: body)
        #expect(template.format == .json)
        #expect(template.variables == ["b", "a"])
        #expect(template.body == body)
        #expect(try Template(compiling: " <a/>").format == .xml)
    }

    @Test(arguments: [
        ("", "template.format", 1, 1, "The template is empty."),
        (" \n ", "template.format", 2, 2, "The template is empty."),
        ("  Hello", "template.format", 1, 3, "The template is neither JSON nor XML."),
        ("{\n\"a\":}", "template.document", 2, 5, "The JSON is malformed: A value was expected, not \"}\"."),
        ("<a>", "template.document", 1, 1, "The XML is malformed: The element <a> is never closed."),
        (##"{"color":"#000000"}"##, "template.syntax", 1, 12, "\"(\" was expected after \"#\", not \"0\"."),
        ("{\n \"é\":\"$(\\u0061,\\u002d1)\"}", "template.syntax", 2, 16, "The length cannot be negative."),
        (#"["{'\ud83d\ude00' + \"é\" * $(a)}"]"#, "template.syntax", 1, 27, "\"+\" or \"}\" was expected, not \"*\"."),
        (
            "<a>\n<b c=\"{&apos;&#233;&apos; - 1}\"/></a>", "template.syntax", 2, 27,
            "\"+\" or \"}\" was expected, not \"-\"."
        ),
        ("<a><![CDATA[$(b]]></a>", "template.syntax", 1, 14, "This \"(\" is never closed."),
    ])
    func `Errors give their position in the whole body`(
        _ body: String, _ code: String, _ line: Int, _ column: Int, _ message: String
    ) throws {
        let error = try #require(throws: TemplateError.self) { try Template(compiling: body) }
        #expect(error.message == message)
        #expect(error.code == code)
        #expect(error.line == line)
        #expect(error.column == column)
    }

    @Test func `A rejected colour gets a hint with the right spelling`() throws {
        let error = try #require(throws: TemplateError.self) { try Template(compiling: ##"{"c":"#000"}"##) }
        #expect(error.hint == "A value that starts with \"#\" is an expression; as text it is written {'#…'}.")
        #expect(try render(##"{"c":"{'#000'}"}"##) == ##"{"c":"#000"}"##)
        #expect(error.expression == "#000")
    }

    @Test func `A lenient hub replaces expressions inside longer text`() throws {
        #expect(
            try render(##"{"a":"Hi $(n)","c":"#000"}"##, ["n": "\"A\""], lenient: true)
                == ##"{"a":"Hi \"A\"","c":"#000"}"##)
        #expect(try render("<a>1 &lt; $(n)</a>", ["n": "2"], lenient: true) == "<a>1 &lt; 2</a>")
    }

    @Test func `Any values give a document that contains these values`() throws {
        var random = SplitMix64(seed: 11)
        let json = try Template(compiling: ##"{"a":"$(a)","b":"{'x' + $(a)}","n":"#(a)"}"##)
        let xml = try Template(compiling: "<t a='$(a)'><b>$(a)</b><c><![CDATA[$(a)]]></c></t>")
        for _ in 0..<500 {
            let value = JSONParserTests.text(using: &random) + (random.chance(20) ? "]]>" : "")
            let properties = TemplateProperties(["a": value])
            let result = try JSON(parsing: json.render(properties))
            #expect(result["a"] == .string(value))
            #expect(result["b"] == .string("x" + value))
            _ = try Template(
                compiling: String(decoding: xml.render(properties), as: UTF8.self), options: .init(lenient: true))
        }
    }

    @Test(
        arguments: [
            ("<toast/>", "wns/toast"), ("<Toast a='1'>", "wns/toast"),
            ("<?xml version=\"1.0\"?>\n<!-- c --><TILE>", "wns/tile"),
            ("\u{FEFF}<badge value='1'/>", "wns/badge"), ("<raw/>", nil), ("{}", nil), ("", nil),
            ("<!-- <toast/> -->", nil),
            ("text <toast/>", nil),
        ] as [(String, String?)])
    func `The WNS type follows from the root element`(_ body: String, _ type: String?) {
        #expect(Template.wnsType(of: body) == type)
    }
}
