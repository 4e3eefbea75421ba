/// The tags of a registration and its row.
package struct TagsRow: Sendable, Equatable {
    package var row: UInt32
    package var tags: [Tag]

    package init(row: UInt32, tags: [Tag]) {
        self.row = row
        self.tags = tags
    }
}
