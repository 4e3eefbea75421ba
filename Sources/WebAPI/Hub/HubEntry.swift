package import HubWire
package import PushModel

/// A hub as an Atom entry.
package struct HubEntry: Sendable {
    let record: HubRecord

    package init(_ record: HubRecord) { self.record = record }

    /// - Parameter author: The namespace.
    package func entry(at link: String, author: String) -> AtomEntry {
        AtomEntry(id: link, title: record.name, published: record.createdAt, updated: record.updatedAt, author: author)
    }

    /// Writes the whole response.
    package func document(at link: String, author: String) -> [UInt8] {
        entry(at: link, author: author).document { HubDescriptionXML(record.description).write(into: &$0) }
    }
}
