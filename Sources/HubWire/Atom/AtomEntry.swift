import PushCore

/// An Atom entry around one description: what the protocol wraps registrations, hubs and jobs in.
package struct AtomEntry: Sendable {
    package static let contentType = "application/atom+xml;type=entry;charset=utf-8"
    package static let namespace = "http://www.w3.org/2005/Atom"
    package static let metadataNamespace = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    /// Of the descriptions inside.
    package static let descriptionNamespace = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    package static let instanceNamespace = "http://www.w3.org/2001/XMLSchema-instance"

    /// The address of what is described, with its query.
    package var id: String
    package var title: String
    package var published: Timestamp
    package var updated: Timestamp
    /// Counts up; written as `W/"n"`. Only registrations have one.
    package var etag: Int?
    /// The namespace, for hubs.
    package var author: String?

    package init(
        id: String, title: String, published: Timestamp, updated: Timestamp, etag: Int? = nil, author: String? = nil
    ) {
        self.id = id
        self.title = title
        self.published = published
        self.updated = updated
        self.etag = etag
        self.author = author
    }

    /// The whole document. `content` writes one description and nothing else: clients read the first node inside.
    package func document(_ content: (inout XMLWriter) -> Void) -> [UInt8] {
        var writer = XMLWriter()
        write(into: &writer, isRoot: true, content)
        return writer.bytes
    }

    package func write(into writer: inout XMLWriter, isRoot: Bool, _ content: (inout XMLWriter) -> Void) {
        let inside: (inout XMLWriter) -> Void = { writer in
            writer.element("id", text: id)
            writer.element("title", ["type": "text"], text: title)
            writer.element("published", text: published.iso8601(fraction: false))
            writer.element("updated", text: updated.iso8601(fraction: false))
            if let author { writer.element("author") { $0.element("name", text: author) } }
            writer.empty("link", ["rel": "self", "href": id])
            writer.element("content", ["type": "application/xml"], content)
        }
        switch (etag.map { "W/\"\($0)\"" }, isRoot) {
        case (let etag?, true):
            writer.element("entry", ["a:etag": etag, "xmlns": Self.namespace, "xmlns:a": Self.metadataNamespace], inside)
        case (let etag?, false): writer.element("entry", ["a:etag": etag, "xmlns:a": Self.metadataNamespace], inside)
        case (nil, true): writer.element("entry", ["xmlns": Self.namespace], inside)
        case (nil, false): writer.element("entry", [:], inside)
        }
    }

    /// The description in a request's body: inside of `entry/content`, or on its own. What else stands there, and the type that
    /// the content claims, is not looked at.
    ///
    /// Throws `xml.*` and, where there is nothing inside, `xml.invalid` (400).
    package static func description(in body: [UInt8], limit: Int) throws(PushError) -> XMLElement {
        let root = try XMLElement(parsing: body, limit: limit)
        guard root.name == "entry" else { return root }
        guard let description = root["content"]?.children.first else {
            throw PushError(
                "xml.invalid", "the entry has no content with an element in it", hint: "wrap the description in entry/content",
                status: 400)
        }
        return description
    }
}

extension XMLWriter {
    /// A description with its namespaces.
    package mutating func description(_ name: String, _ content: (inout XMLWriter) -> Void) {
        element(name, ["xmlns": AtomEntry.descriptionNamespace, "xmlns:i": AtomEntry.instanceNamespace], content)
    }
}
