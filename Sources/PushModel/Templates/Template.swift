/// The body of a notification with slots, compiled once and rendered for every message.
///
/// Only whole values can be slots: string values of JSON (never keys), and character data, CDATA sections and attribute values of XML. The
/// rest of the body is sent unchanged, byte by byte.
package struct Template: Sendable, Equatable {
    package enum Format: String, Sendable { case json, xml }

    /// The kind of value that a slot fills, which determines how the text is escaped.
    package enum Context: Sendable, Equatable { case json, xml(XMLValue.Context) }

    package enum Part: Sendable, Equatable {
        /// A range of bytes of the body.
        case literal(Range<Int>)
        case slot(TemplateExpression, Context)
    }

    package let body: String
    package let format: Format
    /// Lower-cased names of the properties, without duplicates, in order of first occurrence.
    package let variables: [String]
    package let parts: [Part]
    private let bytes: [UInt8]
    private let expectedLength: Int

    /// - Parameter body: JSON if its first character other than whitespace is `{` or `[`, XML if it is `<`.
    /// - Throws: `TemplateError`; positions are within the whole body.
    package init(
        compiling body: String, options: TemplateOptions = TemplateOptions()
    ) throws(TemplateError) {
        let compiled = try TemplateCompiler.compile(body, options)
        self.body = body
        format = compiled.format
        parts = compiled.parts
        bytes = compiled.bytes
        var seen: Set<String> = []
        var names: [String] = []
        var length = 0
        for part in parts {
            switch part {
            case .literal(let range): length += range.count
            case .slot(let expression, _):
                length += 64
                names += expression.variables.filter { seen.insert($0).inserted }
            }
        }
        variables = names
        expectedLength = length
    }

    /// The body with every slot filled, as UTF-8. A missing property without a default is empty.
    package func render(_ properties: TemplateProperties) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(expectedLength)
        for part in parts {
            switch part {
            case .literal(let range): result.append(contentsOf: bytes[range])
            case .slot(let expression, let context):
                Template.fill(context, with: expression.evaluate(properties), isNumber: expression.isNumber, &result)
            }
        }
        return result
    }

    static func fill(_ context: Context, with value: String, isNumber: Bool, _ bytes: inout [UInt8]) {
        switch context {
        case .json where isNumber && TemplateProperty.isNumber(value): bytes.append(contentsOf: value.utf8)
        case .json:
            bytes.append(UInt8(ascii: "\""))
            JSON.escape(value, into: &bytes)
            bytes.append(UInt8(ascii: "\""))
        case .xml(.text): XMLEscaping.text(value, into: &bytes)
        case .xml(.cdata): XMLEscaping.cdata(value, into: &bytes)
        case .xml(.attribute): XMLEscaping.attribute(value, into: &bytes)
        }
    }

    /// The value of `X-WNS-Type` for a body's root element, in any case: `wns/toast`, `wns/tile` or `wns/badge`. Nil for any other body.
    /// Reads no further than the root's start tag.
    package static func wnsType(of body: String) -> String? {
        guard let root = XMLScanner.root(of: body)?.lowercased(), ["toast", "tile", "badge"].contains(root) else {
            return nil
        }
        return "wns/\(root)"
    }

    /// The type of an MPNS document: the first element in its root `Notification` in the namespace `WPNotification`. Nil for any other
    /// body.
    static func mpnsType(of body: String) -> MPNSType? {
        let head = XMLScanner.head(of: body)
        guard let root = head.root, localName(root) == "notification",
            head.values.contains(where: { $0.context == .attribute && $0.text == "WPNotification" })
        else { return nil }
        return head.firstChild.flatMap { MPNSType(rawValue: localName($0)) }
    }

    enum MPNSType: String { case toast, tile }

    private static func localName(_ name: String) -> String {
        String(name.split(separator: ":").last ?? "").lowercased()
    }
}
