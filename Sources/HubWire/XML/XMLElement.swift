package import PushModel

/// An XML element with its content.
///
/// Only local names are compared: clients choose prefixes freely, and no two elements of the protocol differ only in their namespace.
package struct XMLElement: Sendable, Equatable {
    package struct Attribute: Sendable, Equatable {
        /// The local name, without the prefix.
        package var name: String
        package var prefix: String?
        package var value: String
    }

    /// The local name, without the prefix.
    package var name: String
    package var prefix: String?
    /// The attributes, without namespace declarations.
    package var attributes: [Attribute]
    package var children: [XMLElement] = []
    /// The character data directly inside this element, with all runs and CDATA sections joined.
    package var text = ""

    /// The first child with this name.
    package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    package func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// Whether `i:nil="true"` marks the element as having no value.
    package var isNil: Bool { attribute("nil").map { $0 == "true" || $0 == "1" } ?? false }

    /// The text of the first child with this name; nil if it is missing or marked as having no value.
    package func text(of name: String) -> String? {
        guard let child = self[name], !child.isNil else { return nil }
        return child.text
    }
}

extension XMLElement {
    /// Maximum nesting depth of elements.
    package static let maximumDepth = 32
    /// Maximum number of elements in a document.
    package static let maximumCount = 4096

    /// Parses a whole document in UTF-8, UTF-16 or ISO-8859-1, as given by its byte order mark or its declaration. A document type
    /// declaration is rejected, so that no entity can be defined.
    ///
    /// Throws `xml.too_large` (413) for more than `limit` bytes, `xml.invalid` (400) with the position in `details.line` and
    /// `details.column`, counted from 1.
    package init(parsing bytes: [UInt8], limit: Int) throws(PushError) {
        self = try XMLTreeParser.element(bytes, limit: limit)
    }
}
