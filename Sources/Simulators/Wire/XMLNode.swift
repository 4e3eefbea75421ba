/// An element of a small XML document (XML 1.0), without namespaces; documents with a document type are rejected.
struct XMLNode: Sendable {
    var name: String
    var attributes: [String: String] = [:]
    var children: [XMLNode] = []
    /// The character data of the element and its descendants.
    var text = ""

    /// Parses a document; returns `nil` if it is not well-formed.
    init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var parser = XMLParser(text)
        guard let root = parser.document() else { return nil }
        self = root
    }

    init(name: String) {
        self.name = name
    }

    /// The descendants with this name, in document order.
    func all(_ name: String) -> [XMLNode] {
        children.flatMap { ($0.name == name ? [$0] : []) + $0.all(name) }
    }

    func first(_ name: String) -> XMLNode? { all(name).first }
}
