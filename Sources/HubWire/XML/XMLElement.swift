/// An element of an XML document with what is inside of it.
///
/// Names are compared by their local part alone: clients choose prefixes freely, and no document of the protocol has two
/// elements that differ in nothing else.
package struct XMLElement: Sendable, Equatable {
    package struct Attribute: Sendable, Equatable {
        /// Without its prefix.
        package var name: String
        package var prefix: String?
        package var value: String
    }

    /// Without its prefix.
    package var name: String
    package var prefix: String?
    /// Declarations of namespaces are not among them.
    package var attributes: [Attribute]
    package var children: [XMLElement] = []
    /// The character data right inside of this element, of all runs and sections, one after the other.
    package var text = ""

    /// The first child of that name.
    package subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    package func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// Whether `i:nil="true"` says that there is no value.
    package var isNil: Bool { attribute("nil").map { $0 == "true" || $0 == "1" } ?? false }

    /// The text of the first child of that name; nil where there is none, or where it says that it has no value.
    package func text(of name: String) -> String? {
        guard let child = self[name], !child.isNil else { return nil }
        return child.text
    }
}
