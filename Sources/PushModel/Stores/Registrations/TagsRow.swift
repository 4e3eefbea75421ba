/// The tags of a registration and its row.
package struct TagsRow: Sendable, Equatable {
    package var place: UInt32
    package var tags: [Tag]

    package init(place: UInt32, tags: [Tag]) {
        self.place = place
        self.tags = tags
    }
}
