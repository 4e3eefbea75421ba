import CExpat
import PushModel

/// Parses XML documents with expat, and builds their trees.
enum XMLTreeParser {
    static func element(_ bytes: [UInt8], limit: Int) throws(PushError) -> XMLElement {
        guard bytes.count <= limit, let length = Int32(exactly: bytes.count) else {
            throw PushError(
                "xml.too_large", "the document has \(bytes.count) bytes; the limit is \(limit)", hint: "send less at once",
                status: 413)
        }
        guard let parser = XML_ParserCreate(nil) else {
            throw PushError("xml.too_large", "not enough memory to read the document", hint: "try again later", status: 503)
        }
        defer { XML_ParserFree(parser) }
        var builder = TreeBuilder(parser)
        let status = withUnsafeMutablePointer(to: &builder) { builder in
            XML_SetUserData(parser, builder)
            XML_SetElementHandler(
                parser, { TreeBuilder.of($0)?.pointee.start($1, $2) }, { context, _ in TreeBuilder.of(context)?.pointee.end() })
            XML_SetCharacterDataHandler(parser) { TreeBuilder.of($0)?.pointee.append($1, $2) }
            XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
                TreeBuilder.of(context)?.pointee.stop("a document type declaration is not allowed")
            }
            return bytes.withUnsafeBytes { XML_Parse(parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), length, 1) }
        }
        guard status == XML_STATUS_OK, let root = builder.root else {
            throw flaw(
                builder.flaw ?? XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "it has no element",
                line: Int64(XML_GetCurrentLineNumber(parser)), column: Int64(XML_GetCurrentColumnNumber(parser)) + 1)
        }
        return root
    }

    private static func flaw(_ what: String, line: Int64, column: Int64) -> PushError {
        PushError(
            "xml.invalid", "the XML cannot be read at line \(line), column \(column): \(what)",
            hint: "send a well-formed document without a document type", status: 400,
            details: ["line": .integer(line), "column": .integer(column)])
    }
}

/// Builds the tree from the parser's events. Lives on the stack of the parsing call.
private struct TreeBuilder {
    private(set) var root: XMLElement?
    /// Why the parser was stopped.
    private(set) var flaw: String?
    private var open: [XMLElement] = []
    private var count = 0
    private let parser: XML_Parser

    init(_ parser: XML_Parser) {
        self.parser = parser
        open.reserveCapacity(8)
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<TreeBuilder>? {
        context?.assumingMemoryBound(to: TreeBuilder.self)
    }

    mutating func stop(_ flaw: String) {
        // A stopped parser may still deliver pending events.
        guard self.flaw == nil else { return }
        self.flaw = flaw
        _ = XML_StopParser(parser, 0)
    }

    mutating func start(_ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        guard flaw == nil, let name else { return }
        guard open.count < XMLElement.maximumDepth else {
            return stop("elements are nested deeper than \(XMLElement.maximumDepth) levels")
        }
        count += 1
        guard count <= XMLElement.maximumCount else { return stop("there are more than \(XMLElement.maximumCount) elements") }
        let (prefix, local) = Self.split(name)
        var element = XMLElement(name: local, prefix: prefix, attributes: [])
        var next = attributes
        while let pair = next, let name = pair[0], let value = pair[1] {
            next = pair + 2
            let (prefix, local) = Self.split(name)
            if prefix == "xmlns" || prefix == nil && local == "xmlns" { continue }
            element.attributes.append(XMLElement.Attribute(name: local, prefix: prefix, value: String(cString: value)))
        }
        open.append(element)
    }

    mutating func end() {
        guard flaw == nil, let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    mutating func append(_ characters: UnsafePointer<CChar>?, _ length: Int32) {
        guard flaw == nil, !open.isEmpty, let characters else { return }
        let bytes = UnsafeRawBufferPointer(start: characters, count: Int(length))
        open[open.count - 1].text += String(decoding: bytes, as: UTF8.self)
    }

    /// Splits `i:type` into `i` and `type`.
    private static func split(_ name: UnsafePointer<CChar>) -> (prefix: String?, local: String) {
        var end = name
        while end.pointee != 0 {
            if end.pointee == CChar(UInt8(ascii: ":")), end != name, end[1] != 0 {
                let prefix = UnsafeRawBufferPointer(start: name, count: end - name)
                return (String(decoding: prefix, as: UTF8.self), String(cString: end + 1))
            }
            end += 1
        }
        return (nil, String(cString: name))
    }
}
