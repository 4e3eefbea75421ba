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
