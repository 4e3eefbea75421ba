package import PushModel

/// An Atom feed: a list of registrations, hubs or jobs.
package struct AtomFeed: Sendable {
    /// Maximum size in bytes: a page of 100 registrations, each with a template of the largest size allowed.
    package static let maximumSize = 32 << 20

    package static let contentType = "application/atom+xml;type=feed;charset=utf-8"

    package var title: String
    /// The address of the list, with its query.
    package var id: String
    package var updated: Timestamp

    package init(title: String, id: String, updated: Timestamp) {
        self.title = title
        self.id = id
        self.updated = updated
    }

    /// Writes the whole document. `content` writes the description of one element.
    package func document<Element>(
        _ elements: some Sequence<(entry: AtomEntry, element: Element)>, _ content: (inout XMLWriter, Element) -> Void
    ) -> [UInt8] {
        var writer = XMLWriter(capacity: 4096)
        writer.element("feed", ["xmlns": AtomEntry.namespace]) { writer in
            writer.element("title", ["type": "text"], text: title)
            writer.element("id", text: id)
            writer.element("updated", text: updated.iso8601(fraction: false))
            writer.empty("link", ["rel": "self", "href": id])
            for (entry, element) in elements {
                entry.write(into: &writer, isRoot: false) { content(&$0, element) }
            }
        }
        return writer.bytes
    }

    /// An empty feed, which Azure returns with status 200 for a missing hub. Clients treat it as "not found".
    package func emptyListing() -> [UInt8] { document(EmptyCollection<(entry: AtomEntry, element: Void)>()) { _, _ in } }
}
