/// A value in a document: a run of character data, a CDATA section or an attribute value.
package struct XMLValue: Sendable, Equatable {
    package enum Context: Sendable, Equatable { case text, cdata, attribute }

    let context: Context
    /// The text with references resolved.
    let text: String
    /// The bytes of the value, without quotes or CDATA markers.
    let range: Range<Int>
}

/// Checks that a text is well-formed XML 1.0 and finds its values, in linear time.
///
/// Stricter than the standard in one point: rejects a document type declaration, because it is never needed here and entity definitions are
/// a known attack. Does not check namespaces.
struct XMLScanner {
    static let maximumDepth = 128

    let bytes: [UInt8]
    var at = 0
    /// Names and start offsets of the open elements.
    private var open: [(name: String, start: Int)] = []
    /// The name of the root element, once read.
    private(set) var root: String?
    /// The name of the first element inside the root, once read.
    private(set) var firstChild: String?
    private(set) var values: [XMLValue] = []

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Reads a document. Returns the root element's name and all values in document order.
    static func scan(_ text: String) throws(XMLError) -> (root: String, values: [XMLValue]) {
        var scanner = XMLScanner(text)
        try scanner.document()
        return (scanner.root ?? "", scanner.values)
    }

    /// The name of the root element. Reads no further than its start tag.
    static func root(of text: String) -> String? {
        var scanner = XMLScanner(text)
        do throws(XMLError) {
            try scanner.prolog()
            while scanner.root == nil, scanner.at < scanner.bytes.count { try scanner.markupOrText() }
        } catch {
            return scanner.root
        }
        return scanner.root
    }

    /// Reads up to the first element inside the root. Does not detect errors after it.
    static func head(of text: String) -> (root: String?, firstChild: String?, values: [XMLValue]) {
        var scanner = XMLScanner(text)
        do throws(XMLError) {
            try scanner.prolog()
            while scanner.firstChild == nil, scanner.at < scanner.bytes.count { try scanner.markupOrText() }
        } catch {
            return (scanner.root, scanner.firstChild, scanner.values)
        }
        return (scanner.root, scanner.firstChild, scanner.values)
    }

    private mutating func document() throws(XMLError) {
        try prolog()
        while at < bytes.count { try markupOrText() }
        if let element = open.last { throw error("The element <\(element.name)> is never closed.", at: element.start) }
        if root == nil { throw error("The document has no element.") }
    }

    private mutating func prolog() throws(XMLError) {
        if starts(with: "\u{FEFF}") { at = 3 }
        if starts(with: "<?xml"), at + 5 < bytes.count, XMLScanner.isBlank(bytes[at + 5]) {
            try skip(past: "?>", from: at + 5, "The XML declaration is never closed.")
        }
    }

    private mutating func markupOrText() throws(XMLError) {
        guard bytes[at] == UInt8(ascii: "<") else { return try characterData() }
        if starts(with: "<!--") { return try comment() }
        if starts(with: "<![CDATA[") { return try section() }
        if starts(with: "<?") { return try instruction() }
        if starts(with: "</") { return try endTag() }
        if starts(with: "<!DOCTYPE") { throw error("A document type declaration is not allowed.") }
        if starts(with: "<!") { throw error("After \"<!\" comes a comment or a CDATA section.") }
        try startTag()
    }

    // MARK: Elements

    private mutating func startTag() throws(XMLError) {
        let start = at
        if root != nil, open.isEmpty { throw error("A document has one root element; this is a second one.") }
        guard open.count < XMLScanner.maximumDepth else {
            throw error("Elements are nested deeper than \(XMLScanner.maximumDepth) levels.")
        }
        at += 1
        let name = try name("After \"<\" comes the name of an element; write \"&lt;\" for a literal \"<\".")
        if root == nil {
            root = name
        } else if firstChild == nil {
            firstChild = name
        }
        var attributes: Set<String> = []
        while true {
            let hadBlank = skipBlanks()
            guard at < bytes.count else { throw error("The tag <\(name)> is never closed with \">\".", at: start) }
            if bytes[at] == UInt8(ascii: ">") {
                at += 1
                open.append((name, start))
                return
            }
            if starts(with: "/>") {
                at += 2
                return
            }
            guard hadBlank else { throw error("A space, \">\" or \"/>\" was expected in the tag <\(name)>.") }
            try attribute(among: &attributes)
        }
    }

    private mutating func attribute(among attributes: inout Set<String>) throws(XMLError) {
        let start = at
        let name = try name("The name of an attribute, \">\" or \"/>\" was expected.")
        guard attributes.insert(name).inserted else {
            throw error("The attribute \"\(name)\" occurs twice.", at: start)
        }
        skipBlanks()
        guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else {
            throw error("The attribute \"\(name)\" has no value.")
        }
        at += 1
        skipBlanks()
        guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") || bytes[at] == UInt8(ascii: "'") else {
            throw error("The value of the attribute \"\(name)\" must stand in quotes.")
        }
        let quote = bytes[at]
        let opening = at
        at += 1
        let content = at
        let text = try characters { scanner throws(XMLError) in
            let byte = scanner.bytes[scanner.at]
            if byte == UInt8(ascii: "<") {
                throw scanner.error("\"<\" is not allowed in an attribute value; write \"&lt;\".")
            }
            return byte == quote
        }
        guard at < bytes.count else { throw error("This quote is never closed.", at: opening) }
        values.append(XMLValue(context: .attribute, text: text, range: content..<at))
        at += 1
    }

    private mutating func endTag() throws(XMLError) {
        let start = at
        at += 2
        let name = try name("After \"</\" comes the name of an element.")
        skipBlanks()
        guard at < bytes.count, bytes[at] == UInt8(ascii: ">") else {
            throw error("The end tag </\(name)> is never closed with \">\".", at: start)
        }
        guard let element = open.popLast() else { throw error("</\(name)> closes nothing.", at: start) }
        guard element.name == name else {
            throw error("</\(name)> was found where </\(element.name)> was expected.", at: start)
        }
        at += 1
    }

    // MARK: Text

    private mutating func characterData() throws(XMLError) {
        let start = at
        guard !open.isEmpty else {
            if skipBlanks() { return }
            throw error(root == nil ? "Text is not allowed before the root element." : "Text is not allowed after the root element.")
        }
        let text = try characters { scanner throws(XMLError) in
            let byte = scanner.bytes[scanner.at]
            if byte == UInt8(ascii: "]"), scanner.starts(with: "]]>") {
                throw scanner.error("\"]]>\" is not allowed in text; write \"]]&gt;\".")
            }
            return byte == UInt8(ascii: "<")
        }
        values.append(XMLValue(context: .text, text: text, range: start..<at))
    }

    private mutating func section() throws(XMLError) {
        guard !open.isEmpty else { throw error("A CDATA section is not allowed outside the root element.") }
        let start = at + 9
        try skip(past: "]]>", from: start, "The CDATA section is never closed.")
        let range = start..<at - 3
        values.append(XMLValue(context: .cdata, text: String(decoding: bytes[range], as: UTF8.self), range: range))
    }

    private mutating func comment() throws(XMLError) {
        let start = at
        try skip(past: "--", from: at + 4, "The comment is never closed.")
        guard at < bytes.count, bytes[at] == UInt8(ascii: ">") else {
            throw error("\"--\" is not allowed in a comment.", at: at < bytes.count ? at - 2 : start)
        }
        at += 1
    }

    private mutating func instruction() throws(XMLError) {
        let start = at
        at += 2
        let target = try name("After \"<?\" comes a name.")
        guard target.lowercased() != "xml" else {
            throw error("The XML declaration is only allowed at the start of the document.", at: start)
        }
        guard starts(with: "?>") || (at < bytes.count && XMLScanner.isBlank(bytes[at])) else {
            throw error("A space or \"?>\" was expected after \"<?\(target)\".")
        }
        try skip(past: "?>", from: at, "The processing instruction is never closed.")
    }
}
