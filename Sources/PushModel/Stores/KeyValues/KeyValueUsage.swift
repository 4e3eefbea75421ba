/// The storage that a space uses.
package struct KeyValueUsage: Sendable, Equatable {
    /// Number of values and of keys with slots.
    package var entries: Int
    /// Total size of keys, values as JSON, and slots.
    package var bytes: Int

    package init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }
}
