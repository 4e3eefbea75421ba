import PushModel

/// Writes an XML document as UTF-8, without whitespace between elements and without a declaration, like Azure's recorded responses.
///
/// Names must be valid and are not checked. Text is escaped.
package struct XMLWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 1024) { bytes.reserveCapacity(capacity) }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Writes `<name a="…">`, the content and `</name>`, or `<name a="…"/>` if the content is empty.
    package mutating func element(
        _ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ content: (inout XMLWriter) -> Void
    ) {
        begin(name, attributes)
        bytes.append(UInt8(ascii: ">"))
        let start = bytes.count
        content(&self)
        guard bytes.count > start else {
            bytes.removeLast()
            append("/>")
            return
        }
        end(name)
    }

    /// `<name>text</name>`
    package mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], text: String) {
        begin(name, attributes)
        bytes.append(UInt8(ascii: ">"))
        XMLEscaping.text(text, into: &bytes)
        end(name)
    }

    /// Writes nothing for nil.
    package mutating func element(_ name: String, ifPresent text: String?) {
        if let text { element(name, text: text) }
    }

    /// Writes `<name i:nil="true"/>` for nil.
    package mutating func element(_ name: String, orNil text: String?) {
        if let text { element(name, text: text) } else { empty(name, ["i:nil": "true"]) }
    }

    /// Writes `<name><![CDATA[text]]></name>`. A `]]>` in the text is split over two sections.
    package mutating func element(_ name: String, cdata text: String) {
        begin(name, [:])
        append("><![CDATA[")
        XMLEscaping.cdata(text, into: &bytes)
        append("]]>")
        end(name)
    }

    /// Ends a line, for documents that are read line by line.
    package mutating func endLine() { bytes.append(0x0A) }

    /// `<name a="…"/>`
    package mutating func empty(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
        begin(name, attributes)
        append("/>")
    }

    private mutating func begin(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        bytes.append(UInt8(ascii: "<"))
        append(name)
        for (name, value) in attributes {
            bytes.append(0x20)
            append(name)
            append("=\"")
            XMLEscaping.attribute(value, into: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
    }

    private mutating func end(_ name: String) {
        append("</")
        append(name)
        bytes.append(UInt8(ascii: ">"))
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
