/// An element of a small XML document (XML 1.0), without namespaces; document types are refused.
struct XMLNode: Sendable {
    var name: String
    var attributes: [String: String] = [:]
    var children: [XMLNode] = []
    /// All character data of the element and of its descendants, in order.
    var text = ""

    /// Reads one document; nil when it is not well-formed.
    init?(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var parser = XMLParser(text)
        guard let root = parser.document() else { return nil }
        self = root
    }

    init(name: String) {
        self.name = name
    }

    /// The descendants of a name, in order of the document.
    func all(_ name: String) -> [XMLNode] {
        children.flatMap { ($0.name == name ? [$0] : []) + $0.all(name) }
    }

    func first(_ name: String) -> XMLNode? { all(name).first }
}
