package import PushModel

/// An Atom entry, in which the protocol wraps the description of a registration, hub or job.
package struct AtomEntry: Sendable {
    package static let contentType = "application/atom+xml;type=entry;charset=utf-8"
    package static let namespace = "http://www.w3.org/2005/Atom"
    package static let metadataNamespace = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    /// The namespace of the descriptions inside the entry.
    package static let descriptionNamespace = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    package static let instanceNamespace = "http://www.w3.org/2001/XMLSchema-instance"

    /// The address of the described object, with its query.
    package var id: String
    package var title: String
    package var published: Timestamp
    package var updated: Timestamp
    /// A version number that increases with each change, written as `W/"n"`. Only registrations have one.
    package var etag: Int?
    /// The namespace name, for hubs.
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

    /// Writes the whole document. `content` must write exactly one description: clients read the first node inside.
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

    /// Reads the description in a request's body, either inside `entry/content` or on its own. Other elements and the content's type are
    /// ignored.
    ///
    /// Throws `xml.*`, and `xml.invalid` (400) if the content is empty.
    package static func description(in body: [UInt8], limit: Int) throws(PushError) -> XMLElement {
        let root = try XMLElement(parsing: body, limit: limit)
        guard root.name == "entry" else { return root }
        guard let description = root["content"]?.children.first else {
            throw PushError(
                "xml.invalid", "the entry's content has no element", hint: "wrap the description in entry/content",
                status: 400)
        }
        return description
    }
}

extension XMLWriter {
    /// Writes a description with its namespaces.
    package mutating func description(_ name: String, _ content: (inout XMLWriter) -> Void) {
        element(name, ["xmlns": AtomEntry.descriptionNamespace, "xmlns:i": AtomEntry.instanceNamespace], content)
    }
}
